import { applyNodeChanges, type Edge, type Node, type NodeChange } from '@xyflow/react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { openRequiredPorts } from '../../dag/connect-rules'
import { nodeProblems, worst } from '../../dag/problems'
import { connectedPorts } from '../canvas/connected-ports'
import type { EditorEdgeData } from './editor-edge'
import { useDocument, useEditor, useLayout } from './editor-store'
import type { EditorNodeData } from './editor-node'

type FlowNode = Node<EditorNodeData>

const sameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>) => one.size === other.size && [...one].every((entry) => other.has(entry))

const sameData = (one: EditorNodeData, other: EditorNodeData) =>
  one.node === other.node && one.type === other.type && one.problem === other.problem && one.columns === other.columns && sameSet(one.connected, other.connected) && sameSet(one.needed, other.needed)

/** The drawing as the canvas library wants it. What the library measured is kept; only nodes that changed get new data. */
export function useFlowNodes(): { nodes: FlowNode[]; onNodesChange: (changes: NodeChange<FlowNode>[]) => void } {
  const document = useDocument()
  const layout = useLayout()
  const catalogue = useEditor((state) => state.catalogue)
  const problems = useEditor((state) => state.problems)
  const schemas = useEditor((state) => state.schemas)
  const selected = useEditor((state) => state.selected)
  const [nodes, setNodes] = useState<FlowNode[]>([])

  useEffect(() => {
    const connected = connectedPorts(document)
    const open = openRequiredPorts(document, catalogue)
    setNodes((current) => {
      const known = new Map(current.map((node) => [node.id, node]))
      return Object.entries(document.nodes).map(([id, node]) => {
        const old = known.get(id)
        const data: EditorNodeData = {
          node,
          type: catalogue.get(node.type),
          connected: connected(id),
          needed: new Set(open.filter(([nodeId]) => nodeId === id).map(([, port]) => port)),
          problem: worst(nodeProblems(problems, id).filter((problem) => !problem.code.startsWith('port.missing'))),
          columns: schemas[id]?.out?.length ?? null,
        }
        const position = layout.positions[id] ?? { x: 0, y: 0 }
        const unchanged = old && sameData(old.data, data) && old.selected === selected.has(id) && old.position.x === position.x && old.position.y === position.y
        return unchanged ? old : { ...old, id, type: 'editor', ariaLabel: node.name, position, selected: selected.has(id), data: old && sameData(old.data, data) ? old.data : data }
      })
    })
  }, [document, layout, catalogue, problems, schemas, selected])

  const onNodesChange = useCallback((changes: NodeChange<FlowNode>[]) => {
    setNodes((current) => applyNodeChanges(changes.filter((change) => change.type === 'position' || change.type === 'dimensions'), current))
    const picked = changes.filter((change) => change.type === 'select')
    if (picked.length > 0) {
      const { selected: before, selectedEdges, select } = useEditor.getState()
      const next = new Set(before)
      for (const change of picked) if (change.selected) next.add(change.id)
        else next.delete(change.id)
      if (!sameSet(before, next)) select(next, selectedEdges)
    }
  }, [])

  return { nodes, onNodesChange }
}

export function useFlowEdges(): Edge<EditorEdgeData>[] {
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
      data: { errors: edge.from[1] === 'errors', problem: bad.has(id), touchesSelection: selected.has(edge.from[0]) || selected.has(edge.to[0]) },
    }))
  }, [document, problems, selected, selectedEdges])
}
