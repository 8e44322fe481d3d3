import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import type { ReactElement } from 'react'
import { beforeAll, expect, it, vi } from 'vitest'
import { execution } from '../../live/builders'
import shared from '../../shared/locales/en.json'
import executions from './locales/en.json'
import { RejectedTab } from './rejected-tab'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { shared, executions } } }))

const row = { id: 1, node_id: 'n', query: 'q', batch_id: 1, reason: 'bad', row: '{"id":9007199254740993}', create_time: '2026-11-21T10:00:00Z' }
const answers = (results: object[]) => vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ results, next: null }))))

function drawer() {
  const client = new QueryClient()
  return (tab: ReactElement) => (
    <MantineProvider env="test">
      <QueryClientProvider client={client}>{tab}</QueryClientProvider>
    </MantineProvider>
  )
}
const tab = (failed_records: number, nodeId = '') => <RejectedTab execution={execution({ failed_records })} nodeId={nodeId} nameOf={(id) => `Name of ${id}`} />

it('a row that is opened shows its numbers as they came', async () => {
  answers([row])
  render(drawer()(tab(1)))
  fireEvent.click(await screen.findByRole('button', { expanded: false }))
  expect(screen.getByText('{ "id": 9007199254740993 }')).toBeVisible()
})

it('the first row that is rejected is shown as soon as it is counted', async () => {
  answers([])
  const drawn = drawer()
  const { rerender } = render(drawn(tab(0)))
  expect(await screen.findByText('No rejected rows')).toBeVisible()
  answers([row])
  rerender(drawn(tab(1)))
  expect(screen.queryByText('None are kept here')).toBeNull()
  expect(await screen.findByText('bad')).toBeVisible()
})

it('of a node that rejected none it does not tell what others rejected', async () => {
  answers([])
  const drawn = drawer()
  const { rerender } = render(drawn(tab(120, 'sink')))
  expect(await screen.findByText('No row that Name of sink rejected is kept here.')).toBeVisible()
  rerender(drawn(tab(120)))
  expect(await screen.findByText(/120 rows were rejected and counted/)).toBeVisible()
})
