import { render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { RowsTable, scaleOf, textOf } from './rows-table'

it('shows the beginning of a long value and says how long it is, of one that was cut before too', () => {
  const columns = [{ name: 'body', type: 'string' }]
  render(<RowsTable label="Rows" columns={columns} rows={[['x'.repeat(500)], ['y'.repeat(200)], ['z']]} cut={[{ row: 1, column: 'body', characters: 1048576 }]} lengthWords={(characters) => `${characters} long`} empty="none" />)
  expect(screen.getAllByRole('cell').map((cell) => cell.textContent)).toEqual([`${'x'.repeat(120)}… 500 long`, `${'y'.repeat(120)}… 1048576 long`, 'z'])
})

it.each([
  [2, 'decimal(5,1)', '2.0'],
  [-0.25, 'decimal(10,4)', '-0.2500'],
  ['12345678901234567890.5', 'decimal(38,2)', '12345678901234567890.50'],
  [2, 'decimal(5,0)', '2'],
  [1e-7, 'decimal(10,7)', '1e-7'],
  [2, 'double', '2'],
  ['2', 'string', '2'],
  [{ a: 1 }, 'struct<a:decimal(5,1)>', '{"a":1}'],
])('%j of %s is %s', (value, type, text) => expect(textOf(value, scaleOf(type))).toBe(text))
