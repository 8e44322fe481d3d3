import { describe, expect, it } from 'vitest'
import type { DagDocument } from './document'
import { nodeType, port } from './fixtures'
import { portsFollowed } from './port-names'

const SPLIT = { ...nodeType('flow.split', [port('in', 'input'), port('else', 'output')]), ports_field: 'branches' }

const named = (...names: string[]): DagDocument => ({
  schema_version: 1,
  name: 'split',
  type: 'STREAMING',
  parameters: {},
  settings: {},
  nodes: { split: { type: SPLIT.type, type_version: 1, name: 'Split', config: { branches: names.map((name) => ({ name, condition: 'true' })) } } },
  edges: { e1: { from: ['split', 'big'], to: ['a', 'in'] }, e2: { from: ['split', 'mid'], to: ['b', 'in'] }, e3: { from: ['split', 'else'], to: ['c', 'in'] } },
  tests: [{ name: 'one', expect: { 'split.mid': [], 'split.else': [] } }],
})

/** As it is typed, one state after the other. */
function typed(...states: string[][]): DagDocument {
  const [first = [], ...more] = states
  return more.reduce((document, names) => {
    const next = { ...document, nodes: named(...names).nodes }
    return portsFollowed(document, next, 'split', SPLIT)
  }, named(...first))
}

const ports = (document: DagDocument) => Object.values(document.edges).map((edge) => edge.from[1])

describe('edges of a port that is renamed', () => {
  it('follow, and what a test expects there', () => {
    const document = typed(['big', 'mid'], ['big', 'm'], ['big', 'middle'])
    expect(ports(document)).toEqual(['big', 'middle', 'else'])
    expect(Object.keys(document.tests?.[0]?.expect ?? {})).toEqual(['split.middle', 'split.else'])
  })

  it('wait while it has no name, or that of another', () => {
    expect(ports(typed(['big', 'mid'], ['big', '']))).toEqual(['big', 'mid', 'else'])
    expect(ports(typed(['big', 'mid'], ['big', ''], ['big', 'x']))).toEqual(['big', 'x', 'else'])
    expect(ports(typed(['big', 'mid'], ['big', 'big'], ['big', 'bigger']))).toEqual(['big', 'bigger', 'else'])
  })

  it('stay where a row is added, moved or gone', () => {
    expect(ports(typed(['big', 'mid'], ['big', 'mid', 'new']))).toEqual(['big', 'mid', 'else'])
    expect(ports(typed(['big', 'mid'], ['mid', 'big']))).toEqual(['big', 'mid', 'else'])
    expect(ports(typed(['big', 'mid'], ['big']))).toEqual(['big', 'mid', 'else'])
  })
})
