import { describe, expect, it } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { countsStore, updateCounts, type NodeFigures } from './counts'

const figures = (inPerSecond: number | null, outPerSecond: number | null, rejected = 0): NodeFigures => ({
  in: null, out: null, rejected, late: 0, timeless: 0, inPerSecond, outPerSecond, outdatedSince: '',
})

/** Figures by edge, each drawn as "from.port>to.port". */
function drawn(edges: string[], nodes: Record<string, NodeFigures>, { rejectedPerSecond = 0, underWay = false } = {}) {
  const ends = Object.fromEntries(
    edges.map((edge) => {
      const [from, to] = edge.split('>').map((end) => end.split('.'))
      return [edge, { from, to }]
    }),
  )
  const store = countsStore()
  updateCounts(store, { edges: ends } as unknown as DagDocument, new Map(Object.entries(nodes)), { rejectedPerSecond, underWay }, 0)
  return Object.fromEntries(edges.map((edge) => [edge, store.edges.get(edge)]))
}

const rates = (edges: string[], nodes: Record<string, NodeFigures>, rejectedPerSecond = 0) =>
  Object.fromEntries(Object.entries(drawn(edges, nodes, { rejectedPerSecond })).map(([edge, shown]) => [edge, shown?.perSecond]))

describe('rows per second on an edge', () => {
  it('are what its upstream node sends out', () => {
    const nodes = { a: figures(null, 50), b: figures(50, 20), c: figures(null, null) }
    expect(rates(['a.out>b.in', 'b.out>c.in'], nodes)).toEqual({ 'a.out>b.in': 50, 'b.out>c.in': 20 })
  })

  it('are those of its own port where several are read', () => {
    const nodes = { split: figures(90, 100), a: figures(60, 60), b: figures(40, 40) }
    expect(rates(['split.early>a.in', 'split.else>b.in'], nodes)).toEqual({ 'split.early>a.in': 60, 'split.else>b.in': 40 })
  })

  it('are not told where ports that cannot be told apart meet again', () => {
    const nodes = { split: figures(90, 100), both: figures(100, 100), late: figures(5, 5), window: figures(90, 30) }
    const edges = ['split.early>both.in', 'split.else>both.in', 'window.late>both.in', 'window.out>late.in']
    expect(Object.values(rates(edges, nodes))).toEqual([null, null, null, 5])
  })

  it('are those rejected by its node alone, where an errors port is read by one', () => {
    const nodes = { a: figures(90, 80, 10), b: figures(80, 75, 5), one: figures(2, 2), both: figures(null, null) }
    expect(rates(['a.errors>one.in', 'b.errors>both.in'], nodes, 3)).toEqual({ 'a.errors>one.in': 2, 'b.errors>both.in': 3 })
  })
})

describe('an edge while a batch is under way', () => {
  it('says so before any row is known, and is not idle for want of rows', () => {
    expect(drawn(['a.out>b.in'], {}, { underWay: true })['a.out>b.in']).toEqual({ perSecond: 0, lastRowsAt: 0, underWay: true })
    expect(drawn(['a.out>b.in'], { a: figures(null, 0), b: figures(0, 0) }, { underWay: true })['a.out>b.in']?.underWay).toBe(true)
    expect(drawn(['a.out>b.in'], {})['a.out>b.in']).toBeUndefined()
  })
})

it('a batch that was never written leaves nothing on nodes and edges', () => {
  const store = countsStore()
  const document = { edges: { e: { from: ['a', 'out'], to: ['b', 'in'] } } } as unknown as DagDocument
  updateCounts(store, document, new Map([['a', figures(null, 5_000)], ['b', figures(5_000, null)]]), { rejectedPerSecond: 0, underWay: true }, 0)
  expect(store.edges.get('e')?.perSecond).toBe(5_000)
  const told: string[] = []
  for (const id of ['a', 'b']) store.nodes.subscribe(id, () => told.push(id))
  store.edges.subscribe('e', () => told.push('e'))
  updateCounts(store, document, new Map(), { rejectedPerSecond: 0, underWay: false }, 1_000)
  expect([store.nodes.get('a'), store.nodes.get('b'), store.edges.get('e')]).toEqual([undefined, undefined, undefined])
  expect(told).toEqual(['a', 'b', 'e'])
})
