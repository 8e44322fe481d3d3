import { expect, it } from 'vitest'
import { isInView, isShown, prepared, withDefaults } from './form-schema'

const schema = { properties: { format: { type: 'string' as const, default: 'json' }, columns: { type: 'array' as const, 'x-when': 'format=json|csv' }, topic: { type: 'string' as const } } }

it('shows a field that is not written at its default, and what hangs on it', () => {
  const shown = withDefaults(schema, { topic: 'orders' })
  expect(shown).toEqual({ topic: 'orders', format: 'json' })
  expect(isShown(schema.properties.columns, shown)).toBe(true)
  expect(withDefaults(schema, { format: 'text' })).toEqual({ format: 'text' })
})

it('tells whether a field can be seen without opening anything', () => {
  const folded = { properties: { ...schema.properties, retries: { type: 'integer', 'x-advanced': true } } }
  expect(isInView(folded, {}, 'columns')).toBe(true)
  expect(isInView(folded, { format: 'text' }, 'columns')).toBe(false)
  expect(isInView(folded, {}, 'retries')).toBe(false)
  expect(isInView(folded, {}, '')).toBe(false)
})

it('draws a number or nothing as a number that can be emptied, whatever its default', () => {
  const nothing = { type: 'null' }
  const { total } = prepared({ properties: { total: { anyOf: [{ type: 'integer', minimum: 1 }, nothing], default: 1000 } } }).properties as Record<string, unknown>
  expect(total).toEqual({ type: 'integer', minimum: 1, default: 1000, 'x-nullable': true })
})
