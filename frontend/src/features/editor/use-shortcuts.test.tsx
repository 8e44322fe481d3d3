import { fireEvent, render, screen } from '@testing-library/react'
import { beforeEach, expect, it } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { useEditor } from './editor-store'
import { useShortcuts } from './use-shortcuts'

const document_: DagDocument = { schema_version: 1, name: 'a', type: 'STREAMING', parameters: {}, nodes: { one: { type: 'sink.print', type_version: 1, name: 'One', config: {} } }, edges: {}, settings: {} }

function Page() {
  useShortcuts()
  return (
    <>
      <div className="pw-canvas"><div tabIndex={0}>node</div></div>
      <div role="region" tabIndex={0}>rows</div>
      <div role="tablist"><button type="button" role="tab">tab</button></div>
      <button type="button">outline</button>
      <input type="checkbox" aria-label="switch" />
      <input type="radio" aria-label="choice" />
      <input readOnly aria-label="list" />
      <input aria-label="text" />
      <div role="dialog"><input type="checkbox" aria-label="switch of a dialog" /></div>
    </>
  )
}

beforeEach(() => {
  useEditor.getState().open('a', new Map(), { document: document_, layout: { positions: { one: { x: 0, y: 0 } }, notes: [], groups: [] } }, 1, [])
  useEditor.getState().select(['one'])
  render(<Page />)
})

const place = () => useEditor.getState().history.present.layout.positions.one
const nodes = () => Object.keys(useEditor.getState().history.present.document.nodes)

it.each(['rows', 'tab'])('keys pressed in the %s of the page leave the nodes alone', (words) => {
  const at = screen.getByText(words)
  const scrolls = fireEvent.keyDown(at, { key: 'ArrowDown' })
  fireEvent.keyDown(at, { key: 'Delete' })
  fireEvent.keyDown(at, { key: 'a', ctrlKey: true })
  expect([scrolls, place(), nodes()]).toEqual([true, { x: 0, y: 0 }, ['one']])
})

it.each(['node', 'outline'])('those pressed at the %s move and remove it', (words) => {
  fireEvent.keyDown(screen.getByText(words), { key: 'ArrowDown' })
  expect(place()).toEqual({ x: 0, y: 16 })
  fireEvent.keyDown(document.body, { key: 'Delete' })
  expect(nodes()).toEqual([])
})

it('undoes from wherever one reads', () => {
  useEditor.getState().removeSelected()
  fireEvent.keyDown(screen.getByText('rows'), { key: 'z', ctrlKey: true })
  expect(nodes()).toEqual(['one'])
})

it.each(['switch', 'choice', 'list'])('undoes what was just done with a %s, which keeps the focus', (name) => {
  useEditor.getState().changeNode('one', { name: 'Named' })
  fireEvent.keyDown(screen.getByLabelText(name), { key: 'z', ctrlKey: true })
  expect(useEditor.getState().history.present.document.nodes.one?.name).toBe('One')
  fireEvent.keyDown(screen.getByLabelText(name), { key: 'y', ctrlKey: true })
  expect(useEditor.getState().history.present.document.nodes.one?.name).toBe('Named')
  fireEvent.keyDown(screen.getByLabelText(name), { key: 'Delete' })
  expect(nodes()).toEqual(['one'])
})

it.each(['text', 'switch of a dialog'])('leaves Undo to a %s', (name) => {
  useEditor.getState().changeNode('one', { name: 'Named' })
  fireEvent.keyDown(screen.getByLabelText(name), { key: 'z', ctrlKey: true })
  expect(useEditor.getState().history.present.document.nodes.one?.name).toBe('Named')
})

it('a held arrow key is one step of Undo', () => {
  useEditor.getState().changeNode('one', { name: 'Named' })
  for (let times = 0; times < 250; times += 1) fireEvent.keyDown(document.body, { key: 'ArrowRight', repeat: times > 0 })
  expect(place()).toEqual({ x: 4000, y: 0 })
  useEditor.getState().undo()
  expect(place()).toEqual({ x: 0, y: 0 })
  useEditor.getState().undo()
  expect(useEditor.getState().history.present.document.nodes.one?.name).toBe('One')
})
