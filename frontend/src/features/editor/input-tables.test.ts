import { expect, it } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { inputTables } from './input-tables'

const node = (name: string) => ({ type: 'source.file', type_version: 1, name, config: {} })
const drawn = (edges: Record<string, [string, string]>) =>
  ({
    nodes: { a: node('Flights of 2013'), b: node('2013'), c: node('flights-of-2013'), sql: node('Query') },
    edges: Object.fromEntries(Object.entries(edges).map(([id, [from, to]]) => [id, { from: [from, 'out'], to: [to, 'in'] }])),
  }) as unknown as DagDocument
const schemas = { a: { out: [{ name: 'id', type: 'bigint' }] } }

it('inputs are tables by the names of their nodes, as SQL takes them', () => {
  const tables = inputTables(drawn({ e1: ['a', 'sql'], e2: ['b', 'sql'], e3: ['c', 'sql'] }), schemas, 'sql')
  expect(tables.map(({ name }) => name)).toEqual(['flights_of_2013', 't_2013', 'flights_of_2013_3'])
  expect(tables[0]?.columns.map(({ name }) => name)).toEqual(['id'])
})

it('what leaves by a port of its own is a table by that port', () => {
  const edges = { e1: { from: ['a', 'late'], to: ['sql', 'in'] }, e2: { from: ['a', 'on time'], to: ['sql', 'in'] } } as DagDocument['edges']
  expect(inputTables({ ...drawn({}), edges }, schemas, 'sql').map(({ name }) => name)).toEqual(['flights_of_2013_late', 'flights_of_2013_on_time'])
})

it('a lone input is also called input', () => expect(inputTables(drawn({ e1: ['a', 'sql'] }), schemas, 'sql').map(({ name }) => name)).toEqual(['flights_of_2013', 'input']))

it('a source names its tables itself', () => {
  const document = drawn({})
  const query = { ...node('Query'), type: 'source.sql', config: { inputs: [{ name: 'orders' }, { name: '' }, { name: 'lines' }] } }
  expect(inputTables({ ...document, nodes: { ...document.nodes, query } }, schemas, 'query')).toEqual([
    { name: 'orders', columns: [] },
    { name: 'lines', columns: [] },
  ])
  expect(inputTables(document, schemas, 'a')).toEqual([])
})
