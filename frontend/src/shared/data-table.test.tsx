import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it, vi } from 'vitest'
import { DataTable, type Column } from './data-table'

interface Row {
  name: string
}

const rows: Row[] = [{ name: 'orders' }, { name: 'returns' }]
const stop = vi.fn()
const columns: Column<Row>[] = [
  { key: 'name', title: 'Name', order: 'name', cell: (row) => row.name },
  { key: 'acts', title: '', cell: (row) => <button type="button" onClick={() => stop(row.name)}>{`Stop ${row.name}`}</button> },
]

function table(change: Partial<Parameters<typeof DataTable<Row>>[0]> = {}) {
  const onRow = vi.fn()
  const onOrder = vi.fn()
  render(
    <MantineProvider>
      <DataTable label="Jobs" columns={columns} rows={rows} keyOf={(row) => row.name} onRow={onRow} onOrder={onOrder} {...change} />
    </MantineProvider>,
  )
  return { onRow, onOrder }
}

it('a click on a row opens it', async () => {
  const { onRow } = table()
  await userEvent.click(screen.getByText('returns'))
  expect(onRow).toHaveBeenCalledWith(rows[1])
})

it('Enter on a row opens it', async () => {
  const { onRow } = table()
  await userEvent.tab()
  await userEvent.tab()
  await userEvent.keyboard('{Enter}')
  expect(onRow).toHaveBeenCalledWith(rows[0])
})

it('a button within a row does not open the row', async () => {
  const { onRow } = table()
  await userEvent.click(screen.getByRole('button', { name: 'Stop orders' }))
  expect(stop).toHaveBeenCalledWith('orders')
  expect(onRow).not.toHaveBeenCalled()
})

it('a click on a heading turns the order round', async () => {
  const { onOrder } = table({ order: 'name' })
  await userEvent.click(screen.getByRole('button', { name: 'Name' }))
  expect(onOrder).toHaveBeenCalledWith('-name')
})

it('grey bars stand for rows that are still read', () => {
  table({ rows: undefined, loading: true })
  expect(screen.getByRole('table', { name: 'Jobs' })).toHaveAttribute('aria-busy', 'true')
  expect(document.querySelectorAll('.pw-skeleton').length).toBeGreaterThan(0)
})
