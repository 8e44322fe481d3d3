import { BaseEdge, EdgeLabelRenderer, getBezierPath, getSmoothStepPath, Position, useInternalNode, type Edge, type EdgeProps } from '@xyflow/react'
import { memo, useContext } from 'react'
import { useTranslation } from 'react-i18next'
import { useIsPast } from '../../shared/use-now'
import { useKeyed } from './keyed-store'
import { rate } from './numbers'
import { pillPlace } from './pill-place'
import { CountsContext } from './run-node'

/** `rank`: of an edge between ports with names, see `pillPlace`. */
export type RunEdgeData = { errors: boolean; rank: number | null }

const IDLE_MS = 30_000

/** Width says rows per second: 1.5, 2.5 and 5 px at 0, 500 and 5,000. */
export const edgeWidth = (perSecond: number) => (perSecond >= 5000 ? 5 : perSecond >= 500 ? 2.5 : 1.5)

export function edgePath(props: Pick<EdgeProps, 'sourceX' | 'sourceY' | 'targetX' | 'targetY' | 'sourcePosition' | 'targetPosition'>) {
  const bent = props.sourcePosition === Position.Bottom || props.targetPosition === Position.Top
  return bent ? getSmoothStepPath({ ...props, borderRadius: 12 }) : getBezierPath(props)
}

export const RunEdge = memo(function RunEdge(props: EdgeProps<Edge<RunEdgeData>>) {
  const { t } = useTranslation('canvas')
  const figures = useKeyed(useContext(CountsContext).edges, props.id)
  const [path, labelX, labelY] = edgePath(props)
  const target = useInternalNode(props.target)
  const rank = props.data?.rank ?? null
  const card = rank !== null && target ? { y: target.internals.positionAbsolute.y, height: target.measured.height ?? 0 } : null
  const pill = pillPlace({ x: labelX, y: labelY }, props, card, rank ?? 0)
  const perSecond = figures?.perSecond ?? 0
  const isLong = useIsPast((figures?.lastRowsAt ?? 0) + IDLE_MS)
  // Where the rows are not known to be none, they may well move.
  const idle = !figures || (figures.perSecond === 0 && !figures.underWay && isLong)
  const look = props.data?.errors ? 'pw-edge-errors' : idle ? 'pw-edge-idle' : ''
  return (
    <>
      <BaseEdge id={props.id} path={path} className={`pw-edge ${look}`} style={{ strokeWidth: edgeWidth(perSecond) }} interactionWidth={0} />
      {figures && figures.perSecond !== null && (
        <EdgeLabelRenderer>
          <div className={`pw-rate nodrag nopan${props.data?.errors ? ' pw-rate-errors' : ''}`} style={{ transform: `translate(-50%, -50%) translate(${pill.x}px, ${pill.y}px)` }}>
            {perSecond > 0 ? (
              <>
                <b>{rate(perSecond)}</b>
                {t('perSecond')}
              </>
            ) : (
              t(figures.underWay ? 'underWay' : 'idle')
            )}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  )
})
