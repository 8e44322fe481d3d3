import { act, renderHook } from '@testing-library/react'
import { beforeEach, expect, it } from 'vitest'
import { catalogue, chain } from '../../dag/fixtures'
import { wholeLayout } from '../../dag/marks'
import { useEditor } from './editor-store'
import { useFlowNodes, type FlowNode } from './use-flow-elements'

const editor = () => useEditor.getState()
const layout = () => editor().history.present.layout
const at = (x: number, y: number) => ({ x, y })

beforeEach(() => {
  const places = wholeLayout({ positions: { a: at(0, 0), b: at(280, 0), c: at(1000, 0) } })
  editor().open('chain', catalogue, { document: chain(), layout: places }, 1, [])
  editor().select(['a', 'b'])
  editor().group()
  editor().addNote(at(0, 0))
  editor().changeMark('note1', at(100, 20))
})

const dropped = (id: string, position: { x: number; y: number }) => {
  const { result } = renderHook(useFlowNodes)
  const moved = result.current.nodes.filter((node) => node.id === id).map((node): FlowNode => ({ ...node, position }))
  act(() => result.current.onDragStop(moved))
}

it('a group lies behind its nodes, and what stands in it moves with it', () => {
  const { result } = renderHook(useFlowNodes)
  expect(result.current.nodes.map(({ id }) => id)).toEqual(['mark/group1', 'a', 'b', 'c', 'mark/note1'])
  const { x, y } = layout().groups[0] ?? at(0, 0)
  dropped('mark/group1', at(x + 40, y + 8))
  expect(layout().positions).toEqual({ a: at(40, 8), b: at(320, 8), c: at(1000, 0) })
  expect(layout().notes[0]).toMatchObject(at(140, 28))
  expect(layout().groups[0]).toMatchObject(at(x + 40, y + 8))
  editor().undo()
  expect(layout().positions.a).toEqual(at(0, 0))
})

it('a node that is taken out of a group leaves it where it is', () => {
  const before = layout().groups[0]
  dropped('a', at(0, 900))
  expect([layout().positions.a, layout().groups[0]]).toEqual([at(0, 900), before])
})

it('notes and groups are chosen beside nodes, and deleted without what stands in them', () => {
  const { result } = renderHook(useFlowNodes)
  act(() => result.current.onNodesChange([{ type: 'select', id: 'mark/group1', selected: true }, { type: 'select', id: 'c', selected: true }]))
  expect([[...editor().selected], [...editor().selectedMarks]]).toEqual([['c'], ['note1', 'group1']])
  act(() => editor().removeSelected())
  expect([Object.keys(editor().history.present.document.nodes), layout().groups, layout().notes]).toEqual([['a', 'b'], [], []])
  act(() => editor().undo())
  expect([layout().groups.length, layout().notes.length]).toEqual([1, 1])
})
