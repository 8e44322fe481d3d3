import { expect, it } from 'vitest'
import { textOf } from './rows-table'

it.each([
  [2, 'decimal(5,1)', '2.0'],
  [-0.25, 'decimal(10,4)', '-0.2500'],
  ['12345678901234567890.5', 'decimal(38,2)', '12345678901234567890.50'],
  [2, 'decimal(5,0)', '2'],
  [1e-7, 'decimal(10,7)', '1e-7'],
  [2, 'double', '2'],
  ['2', 'string', '2'],
  [{ a: 1 }, 'struct<a:decimal(5,1)>', '{"a":1}'],
])('%j of %s is %s', (value, type, text) => expect(textOf(value, type)).toBe(text))
