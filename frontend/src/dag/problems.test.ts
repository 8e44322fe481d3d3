import { expect, it } from 'vitest'
import type { DagDocument, Problem } from './document'
import { fieldPath, namedField, toldMeanwhile } from './problems'

const TABLE = { schema: { properties: { connection: { title: 'Connection' }, table: { title: 'Table' }, mode: { title: 'Mode' }, keys: { title: 'Keys' }, max_rows: { title: 'Rows at most' } } } }
const problem = (message: string, code = 'config.invalid'): Problem => ({ code, message, severity: 'error', pointer: '/nodes/out/config', node_id: 'out', edge_id: null })

it('the field is the one whose name the sentence says first', () => expect(namedField(problem('upsert needs keys: name the columns that tell rows of the table apart'), TABLE)).toBe('keys'))
it('or its title', () => expect(namedField(problem('rows at most must be above 0'), TABLE)).toBe('max_rows'))
it('a part of another word is no name', () => expect(namedField(problem('the timetable is empty'), TABLE)).toBeNull())
it('what is quoted is a value', () => expect(namedField(problem('"table" cannot be read'), TABLE)).toBeNull())
it('a problem that is not of the config names no field', () => expect(namedField(problem('connect a table', 'port.open'), TABLE)).toBeNull())

it('a field is found by the pointer before the words', () => {
  expect(fieldPath({ ...problem('keys is required'), pointer: '/nodes/out/config/mode' }, 'out', TABLE)).toEqual(['mode'])
  expect(fieldPath(problem('keys is required'), 'out', TABLE)).toEqual(['keys'])
  expect(fieldPath(problem('connect a table', 'port.open'), 'out', TABLE)).toBeNull()
})

const OUT = { type: 'sink.none', type_version: 1, name: 'Out', config: {} }
const drawn = (nodes: DagDocument['nodes']) => ({ nodes }) as DagDocument
const bySpark = problem('no column amuont', 'expression.column')

it('what only Spark found of a node stays until Spark looks again, as long as the node is as it was and nothing else is told of it', () => {
  const analysed = drawn({ out: OUT, other: OUT })
  const before = { problems: [bySpark, problem('other', 'port.open')], told: [problem('other', 'port.open')], analysed }
  const told = [{ ...problem('a key is missing'), node_id: 'other' }]
  expect(toldMeanwhile(told, before, drawn({ out: OUT, other: { ...OUT } }))).toEqual([...told, bySpark])
  expect(toldMeanwhile(told, before, drawn({ out: { ...OUT }, other: OUT }))).toEqual(told)
  expect(toldMeanwhile(told, before, drawn({ other: OUT }))).toEqual(told)
  expect(toldMeanwhile([problem('a key is missing')], before, analysed)).toEqual([problem('a key is missing')])
  expect(toldMeanwhile(told, { ...before, analysed: null }, analysed)).toEqual(told)
})
