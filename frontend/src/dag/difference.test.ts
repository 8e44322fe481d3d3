import { describe, expect, it } from 'vitest'
import { bothOf, differenceOf, isNone } from './difference'
import type { DagDocument, DagEdge, DagNode } from './document'

const node = (name: string, config: DagNode['config'] = {}, type = 'flow.filter_rows'): DagNode => ({ type, type_version: 1, name, config })

const first: DagEdge = { from: ['read', 'out'], to: ['keep', 'in'] }
const second: DagEdge = { from: ['keep', 'out'], to: ['old', 'in'] }

const before: DagDocument = {
  schema_version: 1,
  name: 'orders',
  type: 'STREAMING',
  parameters: {},
  settings: { retry_interval: '5 s' },
  nodes: { read: node('Read'), keep: node('Keep', { condition: 'a > 1', columns: [{ name: 'a' }, { name: 'b' }] }), old: node('Old') },
  edges: { one: first, two: second },
}

describe('the difference of two documents', () => {
  it('is none of a document and its copy, whatever its edges are called', () => {
    expect(isNone(differenceOf(before, { ...structuredClone(before), edges: { other: structuredClone(first), two: second } }))).toBe(true)
  })

  it('names nodes that came, went and changed, field by field', () => {
    const after: DagDocument = {
      ...before,
      nodes: { read: node('Read'), keep: node('Keep it', { condition: 'a > 2', columns: [{ name: 'a' }] }), fresh: node('Fresh') },
      edges: { one: first, three: { from: ['keep', 'out'], to: ['fresh', 'in'] } },
    }
    const found = differenceOf(before, after)
    expect(found.nodes).toEqual([
      {
        id: 'keep',
        name: 'Keep it',
        change: 'changed',
        fields: [
          { path: 'name', before: 'Keep', after: 'Keep it' },
          { path: 'condition', before: 'a > 1', after: 'a > 2' },
          { path: 'columns.1', before: { name: 'b' }, after: undefined },
        ],
      },
      { id: 'old', name: 'Old', change: 'removed', fields: [] },
      { id: 'fresh', name: 'Fresh', change: 'added', fields: [] },
    ])
    expect(found.edges.map(({ edge, change }) => [change, edge.to[0]])).toEqual([
      ['added', 'fresh'],
      ['removed', 'old'],
    ])
    const both = bothOf(before, after)
    expect(Object.keys(both.nodes)).toEqual(['read', 'keep', 'old', 'fresh'])
    expect(both.nodes.keep?.name).toBe('Keep it')
    expect(Object.values(both.edges).map((edge) => edge.to[0])).toEqual(['keep', 'fresh', 'old'])
  })

  it('leaves out what neither sets, such as the empty fields of another type of node', () => {
    const after: DagDocument = { ...before, nodes: { ...before.nodes, old: node('Old', { salt: '', path: 'results' }, 'sink.file') } }
    expect(differenceOf(before, after).nodes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual(['type', 'path'])
  })

  it('names what stands beside nodes and edges', () => {
    const after: DagDocument = { ...before, title: 'Orders', settings: { retry_interval: '9 s' }, parameters: { day: { type: 'date' } } }
    expect(differenceOf(before, after).rest).toEqual([
      { path: 'title', before: undefined, after: 'Orders' },
      { path: 'settings.retry_interval', before: '5 s', after: '9 s' },
      { path: 'parameters.day', before: undefined, after: { type: 'date' } },
    ])
  })

  it('tells tests apart by their names', () => {
    const [one, two] = [{ name: 'one', ordered: true }, { name: 'two', expect: { old: [] } }]
    const added = differenceOf({ ...before, tests: [two] }, { ...before, tests: [one, { ...two, ordered: true }] }).rest
    expect(added).toEqual([
      { path: 'tests.two.ordered', before: undefined, after: true },
      { path: 'tests.one', before: undefined, after: one },
    ])
    expect(isNone(differenceOf(before, { ...before, tests: [] }))).toBe(true)
  })
})
