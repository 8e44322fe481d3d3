/** Where nodes stand when nobody placed them: columns by depth, rows in order. */

import { topologicalOrder, type DagDocument, type Layout, type Position } from './document'

export const NODE_WIDTH = 188
export const NODE_HEIGHT = 92
const COLUMN = 240
const ROW = 128

/** The layout with a place of its own for every node; places that exist are kept. */
export function completeLayout(document: DagDocument, layout: Layout): Layout {
  const missing = Object.keys(document.nodes).filter((id) => !layout.positions[id])
  if (missing.length === 0) return layout
  const depth = new Map<string, number>()
  const rows = new Map<number, number>()
  const kept = Object.entries(layout.positions).filter(([id]) => id in document.nodes)
  const placed: Record<string, Position> = Object.fromEntries(kept)
  for (const id of topologicalOrder(document)) {
    const before = Object.values(document.edges).filter((edge) => edge.to[0] === id).map((edge) => depth.get(edge.from[0]) ?? 0)
    const column = before.length ? Math.max(...before) + 1 : 0
    depth.set(id, column)
    const row = rows.get(column) ?? 0
    rows.set(column, row + 1)
    placed[id] ??= freePlace({ ...layout, positions: placed }, { x: 40 + column * COLUMN, y: 40 + row * ROW })
  }
  return { ...layout, positions: placed }
}

const isTaken = (layout: Layout, place: Position) => Object.values(layout.positions).some((other) => Math.abs(other.x - place.x) < NODE_WIDTH && Math.abs(other.y - place.y) < NODE_HEIGHT)

/** The nearest free place for a new node at or below `wanted`, on the 4 px grid. */
export function freePlace(layout: Layout, wanted: Position): Position {
  const place = { x: Math.round(wanted.x / 4) * 4, y: Math.round(wanted.y / 4) * 4 }
  while (isTaken(layout, place)) place.y += NODE_HEIGHT + 24
  return place
}

/** How far `places` have to move, together and downwards, so that none lies on a node of `layout`. */
export function freeShift(layout: Layout, places: readonly Position[]): number {
  let shift = 0
  while (places.some(({ x, y }) => isTaken(layout, { x, y: y + shift }))) shift += shift === 0 ? NODE_HEIGHT + 24 : 32
  return shift
}
