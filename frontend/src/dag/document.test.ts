import { describe, expect, it } from 'vitest'
import { catalogue, chain, FILTER, nodeType, port, SOURCE, UNION } from './fixtures'
import { connectionRefusal, fittingPort, openRequiredPorts } from './connect-rules'
import { addNode, connect, defaultConfig, drawnPorts, freeId, insertOnEdge, portsOf, removeElements, topologicalOrder } from './document'

describe('changing a document', () => {
  it('gives a new node a free id, a free name and the defaults of its type', () => {
    const once = addNode(chain(), FILTER)
    const twice = addNode(once.document, FILTER)
    expect([once.id, twice.id]).toEqual(['filter_rows', 'filter_rows_2'])
    expect(twice.document.nodes.filter_rows_2).toMatchObject({ name: 'filter_rows 2', config: { note: 'none' } })
  })

  it('writes no default for a required field', () => {
    expect(defaultConfig(FILTER)).toEqual({ note: 'none' })
  })

  it('keeps ids within the characters that Spark allows', () => {
    expect(freeId({}, 'a b-ü')).toMatch(/^[A-Za-z0-9_]+$/)
  })

  it('removes the edges of a removed node', () => {
    const left = removeElements(chain(), ['b'])
    expect(Object.keys(left.nodes)).toEqual(['a', 'c'])
    expect(left.edges).toEqual({})
  })

  it('does not change the document it was given', () => {
    const before = chain()
    addNode(before, UNION)
    connect(before, ['a', 'out'], ['c', 'in'])
    expect(before).toEqual(chain())
  })

  it('inserts a node into an edge', () => {
    const added = addNode(chain(), FILTER)
    const document = insertOnEdge(added.document, 'e1', added.id, FILTER)
    const ends = Object.values(document.edges).map((edge) => `${edge.from[0]}>${edge.to[0]}`)
    expect(ends.sort()).toEqual(['a>filter_rows', 'b>c', 'filter_rows>b'])
  })

  it('orders nodes from sources to sinks, also with a cycle', () => {
    expect(topologicalOrder(chain())).toEqual(['a', 'b', 'c'])
    const circle = connect(chain(), ['b', 'out'], ['b', 'in'])
    expect(topologicalOrder(circle).sort()).toEqual(['a', 'b', 'c'])
  })
})

describe('ports that a config names', () => {
  const split = { ...nodeType('flow.split', [port('in', 'input'), port('else', 'output')]), ports_field: 'branches' }
  const node = (names: unknown[]) => ({ type: 'flow.split', type_version: 1, name: 'Split', config: { branches: names.map((name) => ({ name })) as never } })

  it('stand between the inputs and the other outputs, each once, as soon as they have a name', () => {
    expect(portsOf(node(['late', '', null, 'late', 'else', 'early']), split).map((one) => one.name)).toEqual(['in', 'late', 'early', 'else'])
    expect(portsOf({ ...node([]), config: { branches: 'no list' } }, split).map((one) => one.name)).toEqual(['in', 'else'])
  })

  it('may be joined, and one that is gone is drawn while an edge begins there', () => {
    const known = new Map([...catalogue, ['flow.split', split]])
    const drawn = { ...chain(), nodes: { ...chain().nodes, s: node(['late']) } }
    const free = removeElements(drawn, [], Object.keys(drawn.edges))
    expect(connectionRefusal(free, known, ['s', 'late'], ['b', 'in'])).toBeNull()
    expect(connectionRefusal(free, known, ['s', 'gone'], ['b', 'in'])?.reason).toBe('unknown')
    expect(drawnPorts(node(['late']), split, new Set(['in', 'gone'])).map((one) => one.name)).toEqual(['in', 'late', 'else', 'gone'])
  })
})

describe('whether two ports may be joined', () => {
  it('refuses a second edge into a port that takes one', () => {
    const { document } = addNode(chain(), SOURCE)
    expect(connectionRefusal(document, catalogue, ['file', 'out'], ['b', 'in'])?.reason).toBe('full')
  })

  it('names the nodes of the circle it would close', () => {
    const { document } = addNode(removeElements(chain(), [], ['e1']), UNION)
    const closed = connect(document, ['union', 'out'], ['b', 'in'])
    expect(connectionRefusal(closed, catalogue, ['b', 'out'], ['union', 'in'])).toEqual({ reason: 'cycle', detail: 'union → B' })
  })

  it('refuses the same edge twice and the wrong direction', () => {
    expect(connectionRefusal(chain(), catalogue, ['a', 'out'], ['b', 'in'])?.reason).toBe('duplicate')
    expect(connectionRefusal(chain(), catalogue, ['c', 'in'], ['b', 'in'])?.reason).toBe('direction')
  })

  it('lets an errors port feed a free input', () => {
    const { document } = addNode(chain(), UNION)
    expect(connectionRefusal(document, catalogue, ['a', 'errors'], ['union', 'in'])).toBeNull()
  })

  it('lists required inputs that are free, never an output', () => {
    const { document } = addNode(chain(), UNION)
    expect(openRequiredPorts(document, catalogue)).toEqual([['union', 'in']])
  })

  it('offers no source behind an output', () => {
    expect(fittingPort(SOURCE, { name: 'out', kind: 'output', required: true, many: false })).toBeUndefined()
    expect(fittingPort(FILTER, { name: 'out', kind: 'output', required: true, many: false })?.name).toBe('in')
  })
})
