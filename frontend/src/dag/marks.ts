/** Notes and groups: what people write and draw around the nodes. They belong to the layout, so they make no version. */

import type { Group, Layout, Note, Position } from './document'
import { NODE_HEIGHT, NODE_WIDTH } from './layout'

type Size = { width: number; height: number }
type Box = Position & Size

export const NOTE_SIZE: Size = { width: 220, height: 112 }
export const LONGEST_NOTE = 2_000
export const LONGEST_TITLE = 120
export const SMALLEST: Size = { width: 80, height: 48 }
const MARGIN = 24
/** Above the nodes of a group, for its title. */
const HEAD = 28

const isPlaced = (mark: Partial<Note>): mark is Note => typeof mark.id === 'string' && Number.isFinite(mark.x) && Number.isFinite(mark.y)
const sizeOf = ({ width, height }: Partial<Size>, size: Size): Size => ({ width: Math.max(SMALLEST.width, width ?? size.width), height: Math.max(SMALLEST.height, height ?? size.height) })

/** The layout with all that it may lack; marks that another program wrote and that have no place are left out. */
export function wholeLayout({ positions = {}, notes = [], groups = [] }: Partial<Layout>): Layout {
  return {
    positions,
    notes: notes.filter(isPlaced).map((note) => ({ ...note, ...sizeOf(note, NOTE_SIZE), text: String(note.text ?? '') })),
    groups: groups.filter(isPlaced).map((group) => ({ ...group, ...sizeOf(group, NOTE_SIZE), title: String(group.title ?? '') })),
  }
}

function freeId(layout: Layout, kind: 'note' | 'group'): string {
  const taken = new Set([...layout.notes, ...layout.groups].map(({ id }) => id))
  let number = 1
  while (taken.has(`${kind}${number}`)) number += 1
  return `${kind}${number}`
}

const onGrid = (value: number) => Math.round(value / 4) * 4
const boxOfNode = ({ x, y }: Position): Box => ({ x, y, width: NODE_WIDTH, height: NODE_HEIGHT })

/** A frame around `boxes`, with room for a title. */
function around(boxes: readonly Box[]): Box {
  const left = Math.min(...boxes.map(({ x }) => x)) - MARGIN
  const top = Math.min(...boxes.map(({ y }) => y)) - MARGIN - HEAD
  const right = Math.max(...boxes.map(({ x, width }) => x + width)) + MARGIN
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + MARGIN
  return { x: onGrid(left), y: onGrid(top), width: onGrid(right - left), height: onGrid(bottom - top) }
}

const meet = (one: Box, other: Box) => one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height

/** An empty note at or below `at`, where it covers no node and no other note. */
export function addNote(layout: Layout, at: Position): { layout: Layout; id: string } {
  const id = freeId(layout, 'note')
  const note = { id, text: '', x: onGrid(at.x), y: onGrid(at.y), ...NOTE_SIZE }
  const taken = [...Object.values(layout.positions).map(boxOfNode), ...layout.notes]
  while (taken.some((box) => meet(box, note))) note.y += 16
  return { layout: { ...layout, notes: [...layout.notes, note] }, id }
}

/** A group around nodes; null where none of them has a place. */
export function addGroup(layout: Layout, nodeIds: Iterable<string>): { layout: Layout; id: string } | null {
  const boxes = [...nodeIds].flatMap((id) => (layout.positions[id] ? [boxOfNode(layout.positions[id])] : []))
  if (boxes.length === 0) return null
  const id = freeId(layout, 'group')
  return { layout: { ...layout, groups: [...layout.groups, { id, title: '', ...around(boxes) }] }, id }
}

export const changeMark = (layout: Layout, id: string, change: Partial<Note & Group>): Layout => ({
  ...layout,
  notes: layout.notes.map((note) => (note.id === id ? { ...note, ...change } : note)),
  groups: layout.groups.map((group) => (group.id === id ? { ...group, ...change } : group)),
})

export const removeMarks = (layout: Layout, ids: ReadonlySet<string>): Layout => ({
  ...layout,
  notes: layout.notes.filter(({ id }) => !ids.has(id)),
  groups: layout.groups.filter(({ id }) => !ids.has(id)),
})

const holds = (frame: Box, { x, y, width, height }: Box) => {
  const [middleX, middleY] = [x + width / 2, y + height / 2]
  return middleX >= frame.x && middleX <= frame.x + frame.width && middleY >= frame.y && middleY <= frame.y + frame.height
}

/** Ids of the nodes and of the notes that stand in a group: those whose middle does. */
export function membersOf(layout: Layout, group: Group): { nodes: string[]; notes: string[] } {
  const nodes = Object.entries(layout.positions).filter(([, place]) => holds(group, boxOfNode(place)))
  return { nodes: nodes.map(([id]) => id), notes: layout.notes.filter((note) => holds(group, note)).map(({ id }) => id) }
}

/** Groups around the nodes that they had in `before`, wherever those stand in `after`. */
export function groupsFollowed(before: Layout, after: Layout): Layout {
  const groups = after.groups.map((group) => {
    const boxes = membersOf(before, group).nodes.flatMap((id) => (after.positions[id] ? [boxOfNode(after.positions[id])] : []))
    return boxes.length > 0 ? { ...group, ...around(boxes) } : group
  })
  return { ...after, groups }
}
