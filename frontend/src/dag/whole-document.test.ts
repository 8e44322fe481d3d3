import { describe, expect, it } from 'vitest'
import { chain } from './fixtures'
import { wholeDocument } from './whole-document'

describe('a document that was written elsewhere', () => {
  it('has every part, and keeps what nobody knows', () => {
    const written = { name: 'a', type: 'STREAMING', settings: { parallelsim: 2 }, colour: 'red', nodes: { in: { type: 'source.rate', conifg: 1 } } }
    expect(wholeDocument(written, 'a')).toEqual({
      ...written,
      schema_version: 1,
      parameters: {},
      nodes: { in: { type: 'source.rate', type_version: 1, name: 'in', config: {}, conifg: 1 } },
      edges: {},
    })
  })
  it('is drawn by what its parts come nearest to', () => {
    const edges = { a: { from: 'in.late', to: 'out' }, b: { from: ['in'], to: ['out', 'in'] }, c: 7, d: { from: [], to: 'out' } }
    const written = { nodes: { in: { name: 3 }, out: 'sink' }, edges, settings: [], parameters: { day: '2013' }, tests: [{ given: 7, expect: { out: {} } }, null] }
    expect(wholeDocument(written, 'job')).toMatchObject({
      name: 'job',
      type: 'STREAMING',
      nodes: { in: { type: '', name: 'in', config: {} } },
      edges: { a: { from: ['in', 'late'], to: ['out', 'in'] }, b: { from: ['in', 'out'], to: ['out', 'in'] } },
      settings: {},
      parameters: { day: { default: '2013' } },
      tests: [{ name: '', given: {}, expect: { out: [] } }],
    })
  })
  it('is the same where nothing is missing', () => {
    expect(wholeDocument(chain(), 'chain')).toEqual(chain())
  })
  it('is an empty drawing where it is none', () => {
    expect([null, 7, [], 'x'].map((value) => Object.keys(wholeDocument(value, 'job').nodes))).toEqual([[], [], [], []])
  })
})
