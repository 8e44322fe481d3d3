import { IconGripHorizontal, IconX } from '@tabler/icons-react'
import { useReactFlow, type Node, type NodeProps } from '@xyflow/react'
import { useEffect, useRef, useState, type PointerEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { Group, Note } from '../../dag/document'
import { LONGEST_NOTE, LONGEST_TITLE, SMALLEST } from '../../dag/marks'
import './marks.css'
import type { Editing, GroupData, NoteData } from './marks'

/** Dragged, it makes the note or group larger or smaller. */
function Corner({ mark, change }: { mark: Note | Group; change: Editing['change'] }) {
  const { t } = useTranslation('canvas')
  const { getZoom } = useReactFlow()
  const from = useRef({ x: 0, y: 0 })
  if (!change) return null
  const begin = (event: PointerEvent<HTMLSpanElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    from.current = { x: event.clientX - mark.width * getZoom(), y: event.clientY - mark.height * getZoom() }
  }
  const drag = (event: PointerEvent<HTMLSpanElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const grown = (end: number, start: number, least: number) => Math.max(least, Math.round((end - start) / getZoom() / 4) * 4)
    change(mark.id, { width: grown(event.clientX, from.current.x, SMALLEST.width), height: grown(event.clientY, from.current.y, SMALLEST.height) }, `size/${mark.id}`)
  }
  return <span className="pw-mark-corner nodrag nopan" title={t('marks.resize')} onPointerDown={begin} onPointerMove={drag} />
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

export function NoteCard({ data: { note, change, remove }, selected }: NodeProps<Node<NoteData, 'note'>>) {
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
      <Corner mark={note} change={change} />
    </div>
  )
}

export function GroupFrame({ data: { group, change, remove }, selected }: NodeProps<Node<GroupData, 'frame'>>) {
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
      <Corner mark={group} change={change} />
    </div>
  )
}
