import type { Node } from '@xyflow/react'
import type { Group, Layout, Note } from '../../dag/document'
import { wholeLayout } from '../../dag/marks'
import { GroupFrame, NoteCard } from './mark-cards'

type Change = Partial<Note & Group>
export type Editing = {
  /** Absent where the drawing is only looked at. Changes with the same key that follow each other closely are one step. */
  change?: (id: string, change: Change, key?: string) => void
  remove?: (id: string) => void
}
export type NoteData = Editing & { note: Note }
export type GroupData = Editing & { group: Group }
export type MarkNode = Node<NoteData, 'note'> | Node<GroupData, 'frame'>

const PREFIX = 'mark/'
/** What the canvas library calls a note or a group, whose ids are not those of nodes. */
export const flowIdOf = (id: string) => PREFIX + id
/** The id of a note or a group; null for that of a node. */
export const markIdOf = (flowId: string): string | null => (flowId.startsWith(PREFIX) ? flowId.slice(PREFIX.length) : null)

/** The library has a look of its own for what is called a group. */
export const markTypes = { note: NoteCard, frame: GroupFrame }

/** Groups lie behind edges and nodes, also when they are chosen; all but their heads let the canvas be moved and its nodes be chosen. */
const BEHIND = -1
const RAISED = 1000

type Drawn = Editing & { selected?: ReadonlySet<string> }

/** The notes and groups of `layout` as the canvas library wants them: groups come before the nodes, notes behind them. */
export function markNodes(layout: Layout, say: { note: string; group: string }, { selected, ...editing }: Drawn = {}): { behind: MarkNode[]; before: MarkNode[] } {
  const { groups, notes } = wholeLayout(layout)
  const isEditable = Boolean(editing.change)
  const drawn = ({ id, x, y, width, height }: Note | Group) => ({
    id: flowIdOf(id),
    position: { x, y },
    width,
    height,
    measured: { width, height },
    draggable: isEditable,
    selectable: isEditable,
    focusable: isEditable,
    connectable: false,
    selected: selected?.has(id) ?? false,
  })
  return {
    behind: groups.map((group): MarkNode => ({
      ...drawn(group),
      type: 'frame',
      dragHandle: '.pw-group-head',
      zIndex: selected?.has(group.id) ? BEHIND - RAISED : BEHIND,
      style: { pointerEvents: 'none' },
      ariaLabel: group.title || say.group,
      data: { group, ...editing },
    })),
    before: notes.map((note): MarkNode => ({ ...drawn(note), type: 'note', dragHandle: '.pw-note-head', ariaLabel: say.note, data: { note, ...editing } })),
  }
}
