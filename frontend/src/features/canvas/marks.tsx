import { IconGripHorizontal, IconX } from '@tabler/icons-react'
import { NodeResizeControl, type Node, type NodeProps } from '@xyflow/react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Group, Layout, Note } from '../../dag/document'
import { LONGEST_NOTE, LONGEST_TITLE } from '../../dag/marks'
import './marks.css'

type Change = Partial<Note & Group>
type Editing = {
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

function Corner({ id, change }: { id: string; change: Editing['change'] }) {
  const { t } = useTranslation('canvas')
  if (!change) return null
  return (
    <NodeResizeControl position="bottom-right" minWidth={80} minHeight={48} className="pw-mark-corner" onResizeEnd={(_, { width, height }) => change(id, { width: Math.round(width), height: Math.round(height) })}>
      <span title={t('marks.resize')} />
    </NodeResizeControl>
  )
}

/** What was just made waits to be written. */
function useWriting<T extends HTMLElement>(waits: boolean) {
  const field = useRef<T>(null)
  const [began] = useState(waits)
  useEffect(() => {
    if (began) field.current?.focus({ preventScroll: true })
  }, [began])
  return field
}

function NoteCard({ data: { note, change, remove }, selected }: NodeProps<Node<NoteData, 'note'>>) {
  const { t } = useTranslation('canvas')
  const field = useWriting<HTMLTextAreaElement>(Boolean(change) && selected && note.text === '')
  return (
    <div className="pw-note">
      {change && (
        <div className="pw-note-head">
          <IconGripHorizontal size={14} stroke={1.75} aria-hidden />
          <button type="button" className="nodrag" aria-label={t('marks.removeNote')} title={t('marks.removeNote')} onClick={() => remove?.(note.id)}>
            <IconX size={12} stroke={2} />
          </button>
        </div>
      )}
      <textarea ref={field} className="nodrag nopan nowheel" aria-label={t('marks.note')} placeholder={change ? t('marks.write') : ''} readOnly={!change} maxLength={LONGEST_NOTE} value={note.text} onChange={(event) => change?.(note.id, { text: event.target.value }, `note/${note.id}`)} />
      <Corner id={note.id} change={change} />
    </div>
  )
}

function GroupFrame({ data: { group, change, remove }, selected }: NodeProps<Node<GroupData, 'frame'>>) {
  const { t } = useTranslation('canvas')
  const field = useWriting<HTMLInputElement>(Boolean(change) && selected && group.title === '')
  return (
    <div className="pw-group" data-selected={selected || undefined}>
      <div className="pw-group-head">
        {change && <IconGripHorizontal size={14} stroke={1.75} aria-hidden />}
        <input ref={field} className="nodrag nopan" aria-label={t('marks.title')} placeholder={change ? t('marks.title') : ''} readOnly={!change} maxLength={LONGEST_TITLE} value={group.title} title={group.title} onChange={(event) => change?.(group.id, { title: event.target.value }, `group/${group.id}`)} />
        {change && (
          <button type="button" className="nodrag" aria-label={t('marks.removeGroup')} title={t('marks.removeGroup')} onClick={() => remove?.(group.id)}>
            <IconX size={12} stroke={2} />
          </button>
        )}
      </div>
      <Corner id={group.id} change={change} />
    </div>
  )
}

/** The library has a look of its own for what is called a group. */
export const markTypes = { note: NoteCard, frame: GroupFrame }

/** Groups lie behind edges and nodes, also when they are chosen; all but their heads let the canvas be moved and its nodes be chosen. */
const BEHIND = -1
const RAISED = 1000

type Drawn = Editing & { selected?: ReadonlySet<string> }

/** The notes and groups of `layout` as the canvas library wants them: groups come before the nodes, notes behind them. */
export function markNodes({ groups, notes }: Layout, say: { note: string; group: string }, { selected, ...editing }: Drawn = {}): { behind: MarkNode[]; before: MarkNode[] } {
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
