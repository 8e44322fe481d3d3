import type { Node, NodeProps } from '@xyflow/react'
import { createContext, memo, useContext } from 'react'
import { useTranslation } from 'react-i18next'
import { drawnPorts, familyOf, type DagNode, type NodeType } from '../../dag/document'
import { countsStore, type CountsStore, type NodeFigures } from './counts'
import { FamilyTile } from './family-tile'
import { useKeyed, useKeyedPart } from './keyed-store'
import { rows } from './numbers'
import { Ports } from './ports'
import { StateGlyph } from '../../shared/state-glyph'
import { dayClock } from '../../shared/times'

export const CountsContext = createContext<CountsStore>(countsStore())

export type RunNodeData = {
  node: DagNode
  type: NodeType | undefined
  connected: ReadonlySet<string>
  glyph: string
  failed: boolean
  stale: boolean
}

const NONE: ReadonlySet<string> = new Set()
const outdatedSince = (figures: NodeFigures | undefined) => figures?.outdatedSince ?? ''

/** Rows that left a node; for a sink those that came in. */
function NodeTotal({ id, family }: { id: string; family: string }) {
  const { t } = useTranslation('canvas')
  const figures = useKeyed(useContext(CountsContext).nodes, id)
  const total = family === 'sink' ? (figures?.out ?? figures?.in) : (figures?.out ?? figures?.in)
  const wasRejected = figures !== undefined && figures.rejected > 0
  const cameLate = figures !== undefined && figures.late > 0
  const hasNoTime = figures !== undefined && figures.timeless > 0
  return (
    <span className="pw-cut">
      {total == null ? '–' : <b>{rows(total)}</b>} {wasRejected || cameLate || hasNoTime ? null : t('rows', { count: total ?? 0 })}
      {wasRejected && <span className="pw-node-bad"> · {t('rejected', { count: figures.rejected })}</span>}
      {cameLate && (
        <span className="pw-node-warn" title={t('lateHelp')}>
          {' '}
          · {t('late', { count: figures.late })}
        </span>
      )}
      {hasNoTime && (
        <span className="pw-node-warn" title={t('timelessHelp')}>
          {' '}
          · {t('timeless', { count: figures.timeless })}
        </span>
      )}
    </span>
  )
}

/** A node of a running or finished execution: name, total rows, state. */
export const RunNode = memo(function RunNode({ id, data }: NodeProps<Node<RunNodeData>>) {
  const family = data.type?.family ?? familyOf(data.node.type)
  const { t } = useTranslation('canvas')
  const since = useKeyedPart(useContext(CountsContext).nodes, id, outdatedSince)
  const isOutdated = since !== '' && !data.failed && !data.stale
  const why = isOutdated ? t('outdated', { time: dayClock(since) }) : undefined
  const state = data.failed ? 'pw-node-failed' : data.stale ? 'pw-node-stale' : isOutdated ? 'pw-node-outdated' : ''
  return (
    <div className={`pw-node pw-node-run pw-${family} ${state}`} data-node-id={id} title={why}>
      <div className="pw-node-head">
        <FamilyTile family={family} icon={data.type?.icon ?? 'puzzle'} />
        <div className="pw-node-names">
          <div className="pw-node-name" title={data.node.name}>
            <span>{data.node.name}</span>
          </div>
          <div className="pw-node-type">
            <NodeTotal id={id} family={family} />
            <StateGlyph state={data.failed ? 'failed' : data.stale ? 'stale' : isOutdated ? 'warning' : data.glyph} label={why} />
          </div>
        </div>
      </div>
      <Ports ports={drawnPorts(data.node, data.type, data.connected)} connected={data.connected} needed={NONE} editable={false} />
    </div>
  )
})
