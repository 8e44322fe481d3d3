import { useEffect } from 'react'
import type { Position } from '../../dag/document'
import { useEditor } from './editor-store'
import { openPicker } from './picker-store'

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('[role=dialog]') !== null)

/** Whether it is a switch or a choice of the page: it keeps the focus after a click, and the browser has nothing in it to undo. */
const isChoice = (target: EventTarget | null) =>
  target instanceof Element && target.matches('input:is([type=checkbox], [type=radio], [readonly])') && target.closest('[role=dialog]') === null

const READ = '[tabindex="0"]:not(button, a), [role=tablist], [role=menu], [role=listbox]'
/** Whether it is in what is read and scrolled by keyboard, as the rows of a preview: there the keys are not meant for the canvas. */
const isReading = (target: EventTarget | null) =>
  target instanceof Element && target.closest('.pw-canvas') === null && target.closest(READ) !== null

const STEP = 16
const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }

function moveSelected([dx, dy]: [number, number]) {
  const { selected, selectedMarks, history, move } = useEditor.getState()
  const { positions, notes, groups } = history.present.layout
  const from = (place: Position | undefined) => ({ x: (place?.x ?? 0) + dx, y: (place?.y ?? 0) + dy })
  const nodes = [...selected].map((id) => [id, from(positions[id])])
  const marks = [...notes, ...groups].filter(({ id }) => selectedMarks.has(id)).map((mark) => [mark.id, from(mark)])
  move(Object.fromEntries(nodes), Object.fromEntries(marks), `move/${[...selected, ...selectedMarks].join(' ')}`)
}

const isCommand = (event: KeyboardEvent) => event.ctrlKey || event.metaKey

const isUndo = (event: KeyboardEvent, key: string) => isCommand(event) && (key === 'z' || key === 'y')

/** What holds anywhere on the page; whether it was one of them. */
function anywhere(event: KeyboardEvent, key: string): boolean {
  const editor = useEditor.getState()
  if (isCommand(event) && key === 'z') {
    if (event.shiftKey) editor.redo()
    else editor.undo()
  } else if (isCommand(event) && key === 'y') editor.redo()
  else if (!isCommand(event) && key === 'n') openPicker({})
  else if (key === 'escape') editor.select([])
  else return false
  return true
}

/** What is done to the nodes of the canvas; whether it was one of them. */
function onCanvas(event: KeyboardEvent, key: string): boolean {
  const editor = useEditor.getState()
  if (isReading(event.target)) return false
  if (isCommand(event) && key === 'a') editor.select(Object.keys(editor.history.present.document.nodes))
  else if (key === 'delete' || key === 'backspace') editor.removeSelected()
  else if (isCommand(event) && key === 'g') editor.group()
  else if (event.key in ARROWS && editor.selected.size + editor.selectedMarks.size > 0) moveSelected(ARROWS[event.key] ?? [0, 0])
  else return false
  return true
}

function onKey(event: KeyboardEvent) {
  const key = event.key.toLowerCase()
  if (isTyping(event.target) && !(isUndo(event, key) && isChoice(event.target))) return
  if (anywhere(event, key) || onCanvas(event, key)) event.preventDefault()
}

/** Undo, redo, add, delete, select all, move, copy and paste by keyboard, while no field is being typed in. */
export function useShortcuts() {
  useEffect(() => {
    const onCopy = (event: ClipboardEvent) => {
      if (isTyping(event.target) || useEditor.getState().selected.size === 0 || window.getSelection()?.toString()) return
      event.clipboardData?.setData('text/plain', useEditor.getState().copy())
      event.preventDefault()
    }
    const onPaste = (event: ClipboardEvent) => {
      if (!isTyping(event.target) && useEditor.getState().paste(event.clipboardData?.getData('text/plain') ?? '')) event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    window.addEventListener('copy', onCopy)
    window.addEventListener('paste', onPaste)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener('copy', onCopy)
      window.removeEventListener('paste', onPaste)
    }
  }, [])
}
