import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen, within } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Checkpoint, CheckpointComparison } from '../../api/types'
import { checkpoint } from '../../live/builders'
import shared from '../locales/en.json'
import CompareDialog from './compare-dialog'
import checkpoints from './locales/en.json'
import parts from './parts/locales/en.json'

vi.mock('./parts/i18n', () => ({}))

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { checkpoints: { ...checkpoints, ...parts }, shared } } }))
afterEach(cleanup)

const taken = (id: number, more: Partial<Checkpoint>): Checkpoint => checkpoint(id, { id, status: 'COMPLETED', create_time: '2026-01-01T00:00:00Z', complete_time: '2026-01-01T00:00:01Z', phases: { copy: 40 }, ...more })
const operator = (query: string, rows: number) => ({ query, node_id: 'per', operator: 'stateStoreSave', rows, bytes: rows * 10 })

const found: CheckpointComparison = {
  first: taken(1, { rows_read: 1000, storage_size_bytes: 5_000_000, operators: [operator('a', 10)] }),
  second: taken(2, { rows_read: 4500, storage_size_bytes: 4_000_000, create_time: '2026-01-01T00:01:00Z', operators: [operator('a', 25), operator('b', 7)] }),
  node_names: { kafka: 'Orders', per: 'Per hour' },
  sources: [
    { node_id: 'kafka', first: { orders: { 0: 100 } }, second: { orders: { 0: 180 } }, rows: 80, unknown: '' },
    { node_id: 'files', first: { logOffset: 1 }, second: { logOffset: 4 }, rows: null, unknown: 'sources' },
  ],
}

async function opened() {
  vi.stubGlobal('fetch', vi.fn<typeof fetch>(() => Promise.resolve(new Response(JSON.stringify(found), { status: 200 }))))
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <CompareDialog first={1} second={2} points={[]} onChoose={vi.fn()} onClose={vi.fn()} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  await screen.findByText('Orders')
  return (name: string) => within(screen.getByRole('rowheader', { name }).closest('tr') as HTMLElement).getAllByRole('cell').map((cell) => cell.textContent)
}

it('tells figures, positions and state of both, and what lies between them', async () => {
  const cells = await opened()
  expect(cells('Rows read')).toEqual(['1,000', '4,500', '+3,500'])
  expect(cells('Logical')).toEqual(['5.0 MB', '4.0 MB', '−1.0 MB'])
  expect(cells('orders / 0')).toEqual(['100', '180', '+80'])
  expect(cells('a · Per hour')).toEqual(['10 rows · 100 B', '25 rows · 250 B', '+15 · +150 B'])
  expect(cells('b · Per hour')).toEqual(['–', '7 rows · 70 B', ''])
})

it('says of a source whose position counts no rows why they are unknown', async () => {
  const cells = await opened()
  expect(cells('files')).toEqual(['rows unknown: its position counts none, and the run counts all its sources together'])
  expect(cells('logOffset')).toEqual(['1', '4', '+3'])
})
