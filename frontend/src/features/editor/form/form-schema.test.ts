import { describe, expect, it } from 'vitest'
import type { RJSFSchema } from '@rjsf/utils'
import { drawnPath, hasVariedRows, isFolded, isInFold, isInView, isSet, isShown, linesOf, prepared, withChosen, withDefaults } from './form-schema'

const schema = { properties: { format: { type: 'string' as const, default: 'json' }, columns: { type: 'array' as const, 'x-when': 'format=json|csv' }, topic: { type: 'string' as const } } }

it('shows a field that is not written at its default, and what hangs on it', () => {
  const shown = withDefaults(schema, { topic: 'orders' })
  expect(shown).toEqual({ topic: 'orders', format: 'json' })
  expect(isShown(schema.properties.columns, shown)).toBe(true)
  expect(withDefaults(schema, { format: 'text' })).toEqual({ format: 'text' })
})

it('shows a field that hangs on two others where both have its values', () => {
  const delimiter = { 'x-when': 'kind=files&format=csv' }
  expect(isShown(delimiter, { kind: 'files', format: 'csv' })).toBe(true)
  expect(isShown(delimiter, { kind: 'table', format: 'csv' })).toBe(false)
  expect(isShown(delimiter, { kind: 'files', format: 'json' })).toBe(false)
})

it('tells whether a field can be seen without opening anything', () => {
  const folded = { properties: { ...schema.properties, retries: { type: 'integer', 'x-advanced': true } } }
  expect(isInView(folded, {}, 'columns')).toBe(true)
  expect(isInView(folded, { format: 'text' }, 'columns')).toBe(false)
  expect(isInView(folded, {}, 'retries')).toBe(false)
  expect(isInView(folded, {}, '')).toBe(false)
  expect(['columns', 'retries', ''].map((name) => isInFold(folded, {}, name))).toEqual([false, true, false])
})

it('draws a number or nothing as a number that can be emptied, whatever its default', () => {
  const nothing = { type: 'null' }
  const { total } = prepared({ properties: { total: { anyOf: [{ type: 'integer', minimum: 1 }, nothing], default: 1000 } } }).properties as Record<string, unknown>
  expect(total).toEqual({ type: 'integer', minimum: 1, default: 1000, 'x-nullable': true })
})

const lists = {
  properties: {
    keys: { type: 'array' as const, items: { type: 'string' as const } },
    fields: { type: 'array' as const, items: { type: 'object' as const, properties: { column: { type: 'string' as const } } } },
    headers: { type: 'object' as const, 'x-widget': 'mapping' },
  },
}

it('puts a problem where the form draws it: at the cell of a row, or at the whole of tags and pairs', () => {
  expect(drawnPath(lists, ['fields', '1', 'column'])).toEqual(['fields', '1', 'column'])
  expect(drawnPath(lists, ['fields', '1'])).toEqual(['fields', '1'])
  expect(drawnPath(lists, ['keys', '1'])).toEqual(['keys'])
  expect(drawnPath(lists, ['headers', 'accept'])).toEqual(['headers'])
})

it('a value that is chosen brings what belongs to it, once', () => {
  const windows = { properties: { kind: { type: 'string' as const, 'x-sets': { session: { emit: 'close' } } }, emit: { type: 'string' as const } } }
  expect(withChosen(windows, { kind: 'tumbling', emit: 'update' }, { kind: 'session', emit: 'update' })).toEqual({ kind: 'session', emit: 'close' })
  expect(withChosen(windows, { kind: 'session', emit: 'close' }, { kind: 'session', emit: 'update' })).toEqual({ kind: 'session', emit: 'update' })
})

it('a template gives way to that of the chosen value, and written code stays', () => {
  const rows = '# each row\ndef process(row):\n    return row\n'
  const batches = '# each batch\ndef process(batch):\n    return batch\n'
  const python = { properties: { shape: { default: 'row', 'x-sets': { row: { code: rows }, arrow: { code: batches } } }, code: { default: rows, 'x-widget': 'code' } } } as RJSFSchema
  const code = (written?: string) => withChosen(python, {}, { shape: 'arrow', ...(written === undefined ? {} : { code: written }) }).code
  expect(code()).toBe(batches)
  expect(code('# 每行\ndef process(row):\n    return row\n')).toBe(batches)
  expect(code(`# mine\n${rows}`)).toBe(`# mine\n${rows}`)
  expect(code('def process(row):\n    return row["id"] > 1\n')).toBe('def process(row):\n    return row["id"] > 1\n')
  expect(withChosen(python, { shape: 'arrow', code: batches }, { shape: 'row', code: batches }).code).toBe(rows)
})

it('a folded field stands with the others where another one calls for it', () => {
  const registry = { 'x-advanced': true, 'x-unfolds': 'format=avro|protobuf' }
  expect(isFolded(registry, { format: 'json' })).toBe(true)
  expect(isFolded(registry, { format: 'avro' })).toBe(false)
  expect(isInView({ properties: { ...schema.properties, registry } }, { format: 'avro' }, 'registry')).toBe(true)
})

it('tells a value that somebody gave from the one that is there by itself', () => {
  expect(isSet({ default: [] }, [])).toBe(false)
  expect(isSet({ default: null }, undefined)).toBe(false)
  expect(isSet({ default: 30 }, 60)).toBe(true)
})

it('puts two short fields that follow each other into one line', () => {
  const short = (name: string) => name.length === 1
  expect(linesOf(['path', 'a', 'b', 'c', 'body', 'd', 'e'], short)).toEqual([['path'], ['a', 'b'], ['c'], ['body'], ['d', 'e']])
})

describe('the rows of a list', () => {
  const list = (cell: object) => ({ type: 'array' as const, items: { type: 'object' as const, properties: { kind: { type: 'string' as const }, path: { type: 'string' as const, ...cell } } } })

  it('name their own cells where these depend on one of them', () => {
    expect(hasVariedRows(list({ 'x-when': 'kind=files' }))).toBe(true)
    expect(hasVariedRows(list({}))).toBe(false)
    expect(hasVariedRows({ type: 'array', items: { type: 'string' } })).toBe(false)
  })
})
