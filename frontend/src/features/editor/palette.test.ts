import type { TFunction } from 'i18next'
import { expect, it } from 'vitest'
import type { NodeType } from '../../dag/document'
import { bestFirst } from './palette'

const t = ((key: string, given?: { defaultValue?: string }) => given?.defaultValue ?? key) as unknown as TFunction
const type = (name: string, title: string, help = '') => ({ type: name, title, help }) as NodeType

it('a type that is called as one types comes first, then those that begin so', () => {
  const types = [type('flow.for_each_python', 'For each: Python'), type('flow.stateful', 'Stateful', 'Python per key'), type('flow.python', 'Python'), type('flow.python_two', 'Python two')]
  expect(bestFirst(t, types, 'python').map(({ title }) => title)).toEqual(['Python', 'Python two', 'For each: Python', 'Stateful'])
  expect(bestFirst(t, types, '')).toBe(types)
})

it('of types that fit as well as each other a source comes before a flow, and a flow before a sink', () => {
  const types = [{ ...type('sink.file', 'Files'), family: 'sink' as const }, { ...type('flow.files', 'Files by name'), family: 'flow' as const }, { ...type('source.file', 'Files'), family: 'source' as const }]
  expect(bestFirst(t, types, 'files').map((one) => one.type)).toEqual(['source.file', 'sink.file', 'flow.files'])
})
