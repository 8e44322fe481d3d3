import { expect, it } from 'vitest'
import { parseExact } from '../../../dag/exact-json'
import { validator } from './validator'

it('finds the branch of an integer of any length', () => {
  const schema = { type: 'object', properties: { at: { type: 'integer' } } } as const
  const at = parseExact('1234567890123456789')
  expect(validator.isValid(schema, { at }, schema)).toBe(true)
  expect(validator.isValid({ type: 'string' }, at, schema)).toBe(false)
})
