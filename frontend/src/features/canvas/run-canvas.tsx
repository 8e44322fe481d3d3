import { Background, BackgroundVariant, Panel, ReactFlow, ReactFlowProvider, type Node } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { Catalogue, DagDocument, Layout } from '../../dag/document'
import { completeLayout } from '../../dag/layout'
import './canvas.css'
import { CanvasTools } from './canvas-tools'
import { connectedPorts } from './connected-ports'
import type { CountsStore } from './counts'
import './i18n'
import { Opening } from './opening'
import { RunEdge } from './run-edge'
import { runEdges } from './run-edges'
import { CountsContext, RunNode, type RunNodeData } from './run-node'
import { markNodes, markTypes } from './marks'
import { spokenNode, useSpoken } from './spoken'

const nodeTypes = { run: RunNode, ...markTypes }
const edgeTypes = { run: RunEdge }
const MANY_NODES = 200

export interface RunCanvasProps {
  document: DagDocument
  layout: Layout
  catalogue: Catalogue
  counts: CountsStore
  /** The execution's status as the API says it. */
  status: string
  /** The lease ran out: figures stay, greyed and dated. */
  stale?: boolean
  errorNodeId?: string
  selected?: string | null
  onSelect?: (nodeId: string | null) => void
}

/** Only one node failed; the others ended with it. */
const glyphOf = (status: string) => (status === 'FAILED' ? 'cancelled' : status.toLowerCase())

/** The job's canvas, read-only, with live totals on nodes and rates on edges. */
export function RunCanvas({ document, layout, catalogue, counts, status, stale = false, errorNodeId = '', selected = null, onSelect }: RunCanvasProps) {
  const { t } = useTranslation('canvas')
  const spoken = useSpoken(false)
  const nodes = useMemo(() => {
    const places = completeLayout(document, layout).positions
    const connected = connectedPorts(document)
    return Object.entries(document.nodes).map(([id, node]): Node<RunNodeData> => ({
      id,
      type: 'run',
      position: places[id] ?? { x: 0, y: 0 },
      selected: id === selected,
      draggable: false,
      ...spokenNode(t, node.name),
      data: { node, type: catalogue.get(node.type), connected: connected(id), glyph: glyphOf(status), failed: status === 'FAILED' && id === errorNodeId, stale },
    }))
  }, [document, layout, catalogue, status, stale, errorNodeId, selected, t])
  const marks = useMemo(() => markNodes(layout, { note: t('marks.note'), group: t('marks.group') }), [layout, t])
  const edges = useMemo(() => runEdges(t, document, catalogue), [document, catalogue, t])
  return (
    <CountsContext value={counts}>
      <section className="pw-canvas" aria-label={t('canvas')}>
        <ReactFlowProvider>
          <ReactFlow
            nodes={[...marks.behind, ...nodes, ...marks.before]}
            edges={edges}
            nodeTypes={nodeTypes}
            edgeTypes={edgeTypes}
            nodesDraggable={false}
            nodesConnectable={false}
            edgesFocusable={false}
            elementsSelectable={Boolean(onSelect)}
            onNodeClick={(_, node) => node.type === 'run' && onSelect?.(node.id)}
            onPaneClick={() => onSelect?.(null)}
            onlyRenderVisibleElements={nodes.length > MANY_NODES}
            minZoom={0.2}
            maxZoom={2}
            ariaLabelConfig={spoken}
            deleteKeyCode={null}
            proOptions={{ hideAttribution: true }}
          >
            <Background variant={BackgroundVariant.Dots} gap={16} size={1.2} color="var(--canvas-dot)" />
            <Opening selected={selected} failed={errorNodeId} />
            <CanvasTools />
            <Panel position="bottom-right" className="pw-legend">
              <span>{t('legendWidth')}</span>
              <span>
                <i />
                {t('legendRejected')}
              </span>
            </Panel>
          </ReactFlow>
        </ReactFlowProvider>
      </section>
    </CountsContext>
  )
}
