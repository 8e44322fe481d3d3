import { beforeEach, expect, it } from 'vitest'
import { catalogue, chain } from '../../../dag/fixtures'
import { useEditor } from '../editor-store'
import { writeTests } from './use-taking'
import { placeOfTest, useWritten } from './written-rows'

const texts = () => Object.fromEntries(Object.entries(useWritten.getState().written).map(([place, { text }]) => [place, text]))
const tests = () => useEditor.getState().history.present.document.tests ?? []
const remove = (gone: number) => writeTests(tests().filter((_, number) => number !== gone))

beforeEach(() => {
  const document = { ...chain(), tests: [{ name: 'one' }, { name: 'two' }, { name: 'three' }] }
  useEditor.getState().open('job', catalogue, { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  useWritten.setState({ written: {} })
  for (const number of [0, 1, 2]) useWritten.getState().write(`${placeOfTest('job', number)}/given/a`, { text: `of ${number}` })
})

it('a test that is removed takes what is written for it along, and nothing else', () => {
  remove(1)
  expect(texts()).toEqual({ 'job/0/given/a': 'of 0', 'job/1/given/a': 'of 2' })
})

it('what is written stays with its test when another comes back', () => {
  remove(1)
  useEditor.getState().undo()
  expect(texts()).toEqual({ 'job/0/given/a': 'of 0', 'job/2/given/a': 'of 2' })
})

it('a test that is changed keeps what is written for it', () => {
  writeTests(tests().map((test) => ({ ...test, ordered: true })))
  expect(Object.keys(texts())).toHaveLength(3)
})

it('another job leaves it as it is', () => {
  useEditor.getState().open('other', catalogue, { document: chain(), layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  expect(Object.keys(texts())).toHaveLength(3)
})
