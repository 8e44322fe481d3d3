/** Nodes and the edges between them as text, to be pasted here or in another job. */

import { freeId, freeName, type DagDocument, type DagEdge, type DagNode, type Layout } from './document'
import { parseExact } from './exact-json'
import { freeShift } from './layout'

const MARK = 'pipeline-web/nodes'

interface Clip {
  kind: typeof MARK
  nodes: Record<string, DagNode>
  edges: DagEdge[]
  positions: Layout['positions']
}

export function copyNodes(document: DagDocument, layout: Layout, ids: Iterable<string>): string {
  const chosen = new Set(ids)
  const clip: Clip = {
    kind: MARK,
    nodes: Object.fromEntries(Object.entries(document.nodes).filter(([id]) => chosen.has(id))),
    edges: Object.values(document.edges).filter((edge) => chosen.has(edge.from[0]) && chosen.has(edge.to[0])),
    positions: Object.fromEntries(Object.entries(layout.positions).filter(([id]) => chosen.has(id))),
  }
  return JSON.stringify(clip, null, 2)
}

function parseClip(text: string): Clip | null {
  try {
    const value = parseExact(text) as Partial<Clip>
    return value?.kind === MARK && value.nodes && value.edges ? (value as Clip) : null
  } catch {
    return null
  }
}

export interface Pasted {
  document: DagDocument
  layout: Layout
  ids: string[]
}

/** null when the text holds no nodes of ours. Ids and names are made free; they stand below what is there. */
export function pasteNodes(document: DagDocument, layout: Layout, text: string): Pasted | null {
  const clip = parseClip(text)
  if (!clip) return null
  const renamed = new Map<string, string>()
  let next = document
  const positions = { ...layout.positions }
  const placed = (id: string) => clip.positions[id] ?? { x: 0, y: 0 }
  const shift = freeShift(layout, Object.keys(clip.nodes).map(placed))
  for (const [oldId, node] of Object.entries(clip.nodes)) {
    const id = freeId(next.nodes, oldId)
    renamed.set(oldId, id)
    next = { ...next, nodes: { ...next.nodes, [id]: { ...node, name: freeName(next, node.name) } } }
    const old = placed(oldId)
    positions[id] = { x: old.x, y: old.y + shift }
  }
  const edges = { ...next.edges }
  for (const edge of clip.edges) {
    const from = renamed.get(edge.from[0])
    const to = renamed.get(edge.to[0])
    if (from && to) edges[freeId(edges, `e${Object.keys(edges).length + 1}`)] = { from: [from, edge.from[1]], to: [to, edge.to[1]] }
  }
  return { document: { ...next, edges }, layout: { ...layout, positions }, ids: [...renamed.values()] }
}
