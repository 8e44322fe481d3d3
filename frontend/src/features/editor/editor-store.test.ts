import { beforeEach, expect, it } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { catalogue, chain, SINK, SOURCE } from '../../dag/fixtures'
import { useEditor } from './editor-store'

const node = (name: string) => ({ type: 'sink.print', type_version: 1, name, config: {} })
const drawing: DagDocument = { schema_version: 1, name: 'a', type: 'STREAMING', parameters: {}, nodes: { one: node('One') }, edges: {}, settings: {} }
const editor = () => useEditor.getState()

beforeEach(() => editor().open('a', new Map(), { document: drawing, layout: { positions: {}, notes: [], groups: [] } }, 1, []))

it('a node that is undone is no longer selected; others stay so', () => {
  editor().change({ document: { ...drawing, nodes: { ...drawing.nodes, two: node('Two') } } })
  editor().select(['one', 'two'])
  editor().undo()
  expect([...editor().selected]).toEqual(['one'])
})

it('an edge that is redone away is no longer selected', () => {
  editor().change({ document: { ...drawing, edges: { e1: { from: ['one', 'out'], to: ['two', 'in'] } } } })
  editor().change({ document: drawing })
  editor().undo()
  editor().select([], ['e1'])
  editor().redo()
  expect([...editor().selectedEdges]).toEqual([])
})

it('a new node is not joined to an input that is full', () => {
  editor().open('chain', catalogue, { document: chain(), layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  editor().addNode(SOURCE, { x: 0, y: 0 }, { to: ['b', 'in'] })
  expect(Object.keys(editor().history.present.document.nodes)).toHaveLength(4)
  expect(Object.values(editor().history.present.document.edges).map(({ to }) => to[0])).toEqual(['b', 'c'])
  editor().addNode(SINK, { x: 0, y: 0 }, { from: ['b', 'out'] })
  expect(Object.values(editor().history.present.document.edges)).toHaveLength(3)
})
