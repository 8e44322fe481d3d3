import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it, vi } from 'vitest'
import { execution } from '../../live/builders'
import shared from '../../shared/locales/en.json'
import executions from './locales/en.json'
import { RejectedTab } from './rejected-tab'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { shared, executions } } }))

it('a row that is opened shows its numbers as they came', async () => {
  const row = { id: 1, node_id: 'n', query: 'q', batch_id: 1, reason: 'bad', row: '{"id":9007199254740993}', create_time: '2026-11-21T10:00:00Z' }
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ results: [row], next: null }))))
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <RejectedTab execution={execution()} nodeId="" nameOf={(id) => id} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  fireEvent.click(await screen.findByRole('button', { expanded: false }))
  expect(screen.getByText('{ "id": 9007199254740993 }')).toBeVisible()
})
