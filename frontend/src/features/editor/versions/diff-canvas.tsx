import { Background, BackgroundVariant, ReactFlow, ReactFlowProvider, type Edge, type Node, type NodeProps } from '@xyflow/react'
import { memo, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { Change, Difference } from '../../../dag/difference'
import { drawnPorts, familyOf, type Catalogue, type DagDocument, type DagNode, type Layout, type NodeType } from '../../../dag/document'
import { completeLayout } from '../../../dag/layout'
import { connectedPorts } from '../../canvas/connected-ports'
import { FamilyTile } from '../../canvas/family-tile'
import { Opening } from '../../canvas/opening'
import { Ports } from '../../canvas/ports'
import { spokenEdge, spokenNode, useSpoken } from '../../canvas/spoken'

type DiffNodeData = { node: DagNode; type: NodeType | undefined; connected: ReadonlySet<string>; change: Change | undefined }

const NONE: ReadonlySet<string> = new Set()

const DiffNode = memo(function DiffNode({ data }: NodeProps<Node<DiffNodeData>>) {
  const { t } = useTranslation('versions')
  const family = data.type?.family ?? familyOf(data.node.type)
  return (
    <div className={`pw-node pw-${family} pw-diff-node${data.change ? ` pw-diff-${data.change}` : ''}`}>
      <div className="pw-node-head">
        <FamilyTile family={family} icon={data.type?.icon ?? 'puzzle'} />
        <div className="pw-node-names">
          <div className="pw-node-name" title={data.node.name}>
            <span>{data.node.name}</span>
          </div>
          <div className="pw-node-type">{data.change ? t(`change.${data.change}`) : ''}</div>
        </div>
      </div>
      <Ports ports={drawnPorts(data.node, data.type, data.connected)} connected={data.connected} needed={NONE} editable={false} />
    </div>
  )
})

const nodeTypes = { diff: DiffNode }

interface Props {
  both: DagDocument
  difference: Difference
  layout: Layout
  catalogue: Catalogue
}

/** Both documents in one picture: what came, what changed, and what is gone as a ghost. */
export function DiffCanvas({ both, difference, layout, catalogue }: Props) {
  const { t } = useTranslation(['canvas', 'versions'])
  const spoken = useSpoken(false)
  const [nodes, edges] = useMemo(() => {
    const places = completeLayout(both, layout).positions
    const connected = connectedPorts(both)
    const changes = new Map(difference.nodes.map(({ id, change }) => [id, change]))
    const ways = new Map(difference.edges.map(({ edge, change }) => [edge, change]))
    return [
      Object.entries(both.nodes).map(([id, node]): Node<DiffNodeData> => ({
        id,
        type: 'diff',
        position: places[id] ?? { x: 0, y: 0 },
        ...spokenNode(t, node.name),
        data: { node, type: catalogue.get(node.type), connected: connected(id), change: changes.get(id) },
      })),
      Object.entries(both.edges).map(([id, edge]): Edge => ({
        id,
        source: edge.from[0],
        sourceHandle: edge.from[1],
        target: edge.to[0],
        targetHandle: edge.to[1],
        className: ways.has(edge) ? `pw-diff-edge-${ways.get(edge)}` : '',
        ...spokenEdge(t, both, edge),
      })),
    ] as const
  }, [both, difference, layout, catalogue, t])
  return (
    <section className="pw-canvas pw-diff-canvas" aria-label={t('versions:picture')}>
      <ReactFlowProvider>
        <ReactFlow
          nodes={[...nodes]}
          edges={[...edges]}
          nodeTypes={nodeTypes}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          minZoom={0.1}
          ariaLabelConfig={spoken}
          deleteKeyCode={null}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={16} size={1.2} color="var(--canvas-dot)" />
          <Opening />
        </ReactFlow>
      </ReactFlowProvider>
    </section>
  )
}
