import type { Edge, Node, NodeChange } from '@xyflow/react'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { openRequiredPorts } from '../../dag/connect-rules'
import type { Layout, Position } from '../../dag/document'
import { membersOf } from '../../dag/marks'
import { nodeProblems, worst } from '../../dag/problems'
import { connectedPorts } from '../canvas/connected-ports'
import { flowIdOf, markIdOf, markNodes, type MarkNode } from '../canvas/marks'
import { spokenEdge, spokenNode } from '../canvas/spoken'
import type { EditorEdgeData } from './editor-edge'
import { inputColumns, useDocument, useEditor, useLayout, type EditorState } from './editor-store'
import type { EditorNodeData } from './editor-node'

type DrawnNode = Node<EditorNodeData, 'editor'>
export type FlowNode = DrawnNode | MarkNode
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

/** `moves` with what stands in the groups that move: it goes along, unless it is moved itself. */
function withMembers(layout: Layout, moves: ReadonlyMap<string, Position>): Map<string, Position> {
  const all = new Map(moves)
  for (const group of layout.groups) {
    const to = moves.get(flowIdOf(group.id))
    if (!to) continue
    const members = membersOf(layout, group)
    const along = (flowId: string, place: Position | undefined) => {
      if (place && !moves.has(flowId)) all.set(flowId, { x: place.x + to.x - group.x, y: place.y + to.y - group.y })
    }
    for (const id of members.nodes) along(id, layout.positions[id])
    for (const id of members.notes) along(flowIdOf(id), layout.notes.find((note) => note.id === id))
  }
  return all
}

/** The places of nodes, and those of notes and groups by their own ids. */
function parted(places: ReadonlyMap<string, Position>): [Record<string, Position>, Record<string, Position>] {
  const nodes = [...places].filter(([id]) => markIdOf(id) === null)
  const marks = [...places].flatMap(([id, place]): [string, Position][] => ((own) => (own === null ? [] : [[own, place]]))(markIdOf(id)))
  return [Object.fromEntries(nodes), Object.fromEntries(marks)]
}

interface FlowNodes {
  nodes: FlowNode[]
  onNodesChange: (changes: NodeChange<FlowNode>[]) => void
  onDragStop: (moved: FlowNode[]) => void
}

const editing = { change: (...given: Parameters<EditorState['changeMark']>) => useEditor.getState().changeMark(...given), remove: (id: string) => useEditor.getState().removeMark(id) }

/** The drawing as the canvas library wants it: what it measured and where a node is being dragged stay here, outside the document. */
export function useFlowNodes(): FlowNodes {
  const { t } = useTranslation('canvas')
  const layout = useLayout()
  const data = useNodeData()
  const selected = useEditor((state) => state.selected)
  const selectedMarks = useEditor((state) => state.selectedMarks)
  const readOnly = useEditor((state) => state.readOnly)
  const [measured, setMeasured] = useState<ReadonlyMap<string, Size>>(new Map())
  const [dragged, setDragged] = useState<ReadonlyMap<string, Position>>(new Map())

  const marks = useMemo(() => {
    const say = { note: t('marks.note'), group: t('marks.group') }
    return markNodes(layout, say, { selected: selectedMarks, ...(readOnly ? {} : editing) })
  }, [layout, selectedMarks, readOnly, t])

  const drawn = useMemo(
    () =>
      [...data].map(([id, content]): DrawnNode => ({
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

  const nodes = useMemo((): FlowNode[] => {
    const now = (mark: MarkNode): MarkNode => ({ ...mark, position: dragged.get(mark.id) ?? mark.position })
    return [...marks.behind.map(now), ...drawn, ...marks.before.map(now)]
  }, [marks, drawn, dragged])

  const onNodesChange = useCallback((changes: NodeChange<FlowNode>[]) => {
    const { history, selected: before, selectedEdges, selectedMarks: marksBefore, select } = useEditor.getState()
    const sizes = changes.flatMap((change): [string, Size][] => (change.type === 'dimensions' && change.dimensions && markIdOf(change.id) === null ? [[change.id, change.dimensions]] : []))
    if (sizes.length > 0) setMeasured((old) => new Map([...old, ...sizes]))
    const moves = changes.flatMap((change): [string, Position][] => (change.type === 'position' && change.position && change.dragging ? [[change.id, change.position]] : []))
    if (moves.length > 0) setDragged((old) => new Map([...old, ...withMembers(history.present.layout, new Map(moves))]))
    const choices = changes.filter((change) => change.type === 'select')
    const next = selectionAfter(choices.filter(({ id }) => markIdOf(id) === null), before)
    const nextMarks = selectionAfter(choices.flatMap(({ id, selected: chosen }) => ((own) => (own === null ? [] : [{ id: own, selected: chosen }]))(markIdOf(id))), marksBefore)
    if (next || nextMarks) select(next ?? before, selectedEdges, nextMarks ?? marksBefore)
  }, [])

  const onDragStop = useCallback((moved: FlowNode[]) => {
    setDragged(new Map())
    const { history, move } = useEditor.getState()
    move(...parted(withMembers(history.present.layout, new Map(moved.map((node) => [node.id, node.position])))))
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
