import { expect, it } from 'vitest'
import type { DagNode, Json, NodeType } from '../../dag/document'
import { summary } from './summary'

const node = (config: Record<string, Json>) => ({ type: 'source.kafka', config }) as unknown as DagNode
const type = (template: string, properties: Record<string, Json> = {}) => ({ schema: { properties, 'x-summary': template } }) as unknown as NodeType

it('is what the type says, with the values of the node', () => expect(summary(node({ topic: 'orders', format: 'json' }), type('{topic} · {format}'))).toBe('orders · json'))

it('takes defaults for what is not set', () => expect(summary(node({}), type('{percent} %', { percent: { default: 10 } }))).toBe('10 %'))

it('takes no default for what was emptied', () => {
  const rows = { total_rows: { default: 1000 }, rows_per_second: { default: null } }
  const told = '{total_rows} rows in all · {rows_per_second} rows a second'
  expect(summary(node({ total_rows: null, rows_per_second: 100 }), type(told, rows))).toBe('100 rows a second')
  expect(summary(node({ rows_per_second: 100 }), type(told, rows))).toBe('1000 rows in all · 100 rows a second')
  expect(summary(node({ total_rows: null }), type(told, rows))).toBe('')
})

it('leaves out a part without any value, but not one that has some', () => {
  expect(summary(node({ window: '1 hour', group_by: [] }), type('{window} · {group_by}'))).toBe('1 hour')
  expect(summary(node({ exchange: '', routing_key: 'orders' }), type('{exchange} {routing_key}{routing_key_column}'))).toBe('orders')
})

it('writes a text of several lines in one', () => expect(summary(node({ query: 'SELECT id\n  FROM orders' }), type('{query}'))).toBe('SELECT id FROM orders'))

it('falls back to what is required and what was changed', () => {
  const properties = { path: {}, mode: { default: 'append' }, connection: {} }
  const plain = { schema: { properties, required: ['path'] } } as unknown as NodeType
  expect(summary(node({ path: 'out', mode: 'append', connection: 'main' }), plain)).toBe('out')
  expect(summary(node({ path: 'out', mode: 'overwrite' }), plain)).toBe('out · overwrite')
})
