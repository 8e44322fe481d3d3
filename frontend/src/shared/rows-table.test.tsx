import { render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { RowsTable } from './rows-table'

it('shows the beginning of a long value and says how long it is, of one that was cut before too', () => {
  const columns = [{ name: 'body', type: 'string' }]
  render(<RowsTable label="Rows" columns={columns} rows={[['x'.repeat(500)], ['y'.repeat(200)], ['z']]} cut={[{ row: 1, column: 'body', characters: 1048576 }]} lengthWords={(characters) => `${characters} long`} empty="none" />)
  expect(screen.getAllByRole('cell').map((cell) => cell.textContent)).toEqual([`${'x'.repeat(120)}… 500 long`, `${'y'.repeat(120)}… 1048576 long`, 'z'])
})
