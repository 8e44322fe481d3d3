import type { Edge, Node, NodeChange } from '@xyflow/react'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { openRequiredPorts } from '../../dag/connect-rules'
import type { Position } from '../../dag/document'
import { nodeProblems, worst } from '../../dag/problems'
import { connectedPorts } from '../canvas/connected-ports'
import { spokenEdge, spokenNode } from '../canvas/spoken'
import type { EditorEdgeData } from './editor-edge'
import { inputColumns, useDocument, useEditor, useLayout } from './editor-store'
import type { EditorNodeData } from './editor-node'

type FlowNode = Node<EditorNodeData>
type Size = { width: number; height: number }

const sameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>) => one.size === other.size && [...one].every((entry) => other.has(entry))

function useNodeData(): Map<string, EditorNodeData> {
  const document = useDocument()
  const catalogue = useEditor((state) => state.catalogue)
  const problems = useEditor((state) => state.problems)
  const schemas = useEditor((state) => state.schemas)
  return useMemo(() => {
    const connected = connectedPorts(document)
    const open = openRequiredPorts(document, catalogue)
    return new Map(
      Object.entries(document.nodes).map(([id, node]): [string, EditorNodeData] => [
        id,
        {
          node,
          type: catalogue.get(node.type),
          connected: connected(id),
          needed: new Set(open.filter(([nodeId]) => nodeId === id).map(([, port]) => port)),
          problem: worst(nodeProblems(problems, id).filter((problem) => !problem.code.startsWith('port.'))),
          columns: schemas[id]?.out?.length ?? (inputColumns(document, schemas, id).length || null),
        },
      ]),
    )
  }, [document, catalogue, problems, schemas])
}

/** The selection after the library's changes; null when nothing changed. */
function selectionAfter(changes: { id: string; selected: boolean }[], before: ReadonlySet<string>): Set<string> | null {
  const next = new Set(before)
  for (const change of changes) next[change.selected ? 'add' : 'delete'](change.id)
  return sameSet(before, next) ? null : next
}

/** The drawing as the canvas library wants it: what it measured and where a node is being dragged stay here, outside the document. */
export function useFlowNodes(): { nodes: FlowNode[]; onNodesChange: (changes: NodeChange<FlowNode>[]) => void; onDragStop: (moved: FlowNode[]) => void } {
  const { t } = useTranslation('canvas')
  const layout = useLayout()
  const data = useNodeData()
  const selected = useEditor((state) => state.selected)
  const [measured, setMeasured] = useState<ReadonlyMap<string, Size>>(new Map())
  const [dragged, setDragged] = useState<ReadonlyMap<string, Position>>(new Map())

  const nodes = useMemo(
    () =>
      [...data].map(([id, content]): FlowNode => ({
        id,
        type: 'editor',
        ...spokenNode(t, content.node.name),
        position: dragged.get(id) ?? layout.positions[id] ?? { x: 0, y: 0 },
        measured: measured.get(id),
        selected: selected.has(id),
        data: content,
      })),
    [data, layout, dragged, measured, selected, t],
  )

  const onNodesChange = useCallback((changes: NodeChange<FlowNode>[]) => {
    const sizes = changes.flatMap((change): [string, Size][] => (change.type === 'dimensions' && change.dimensions ? [[change.id, change.dimensions]] : []))
    if (sizes.length > 0) setMeasured((old) => new Map([...old, ...sizes]))
    const moves = changes.flatMap((change): [string, Position][] => (change.type === 'position' && change.position && change.dragging ? [[change.id, change.position]] : []))
    if (moves.length > 0) setDragged((old) => new Map([...old, ...moves]))
    const { selected: before, selectedEdges, select } = useEditor.getState()
    const next = selectionAfter(changes.filter((change) => change.type === 'select'), before)
    if (next) select(next, selectedEdges)
  }, [])

  const onDragStop = useCallback((moved: FlowNode[]) => {
    setDragged(new Map())
    useEditor.getState().moveNodes(Object.fromEntries(moved.map((node) => [node.id, node.position])))
  }, [])

  return { nodes, onNodesChange, onDragStop }
}

export function useFlowEdges(): Edge<EditorEdgeData>[] {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const problems = useEditor((state) => state.problems)
  const selected = useEditor((state) => state.selected)
  const selectedEdges = useEditor((state) => state.selectedEdges)
  return useMemo(() => {
    const bad = new Set(problems.map((problem) => problem.edge_id))
    return Object.entries(document.edges).map(([id, edge]) => ({
      id,
      type: 'editor',
      source: edge.from[0],
      sourceHandle: edge.from[1],
      target: edge.to[0],
      targetHandle: edge.to[1],
      selected: selectedEdges.has(id),
      ...spokenEdge(t, document, edge),
      data: { errors: edge.from[1] === 'errors', problem: bad.has(id), touchesSelection: selected.has(edge.from[0]) || selected.has(edge.to[0]) },
    }))
  }, [document, problems, selected, selectedEdges, t])
}
