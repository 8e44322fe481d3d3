import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it, vi } from 'vitest'
import type { Checkpoint } from '../../api/types'
import shared from '../../shared/locales/en.json'
import executions from './locales/en.json'
import { SidePanel } from './side-panel'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { executions, shared } } }))

const checkpoint = (number: number, more: Partial<Checkpoint> = {}) => ({ id: number, checkpoint_id: number, execution_id: 'e-1', status: 'COMPLETED', failure_reason: '', label: '', create_time: '2026-01-01T10:00:00Z', duration_ms: 5, storage_size_bytes: 10, ...more }) as Checkpoint

function shown(checkpoints: Checkpoint[]) {
  const server = vi.fn<typeof fetch>(() => Promise.resolve(new Response(JSON.stringify({ interval: 60, more: true, results: [], counts: { PENDING: 0, COMPLETED: 4940, FAILED: 60, EXPIRED: 0 } }))))
  vi.stubGlobal('fetch', server)
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <SidePanel checkpoints={checkpoints} events={[]} first={null} loading={false} over isTask={false} nameOf={String} onTab={vi.fn()} onCheckpoint={vi.fn()} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return server
}

it('counts all there are, not only the newest that were sent', async () => {
  const server = shown(Array.from({ length: 50 }, (_, index) => checkpoint(5000 - index)))
  expect(await screen.findByText('4,940 complete, 60 failed')).toBeVisible()
  expect(String(server.mock.calls[0]?.[0])).toBe('/api/executions/e-1/checkpoint-history?points=0')
})

it('asks nobody where the first one is among them, and marks a damaged one', () => {
  const server = shown([checkpoint(3), checkpoint(2, { failure_reason: 'it is damaged: out/metadata is missing' }), checkpoint(1)])
  expect(screen.getByText('3 complete')).toBeVisible()
  expect(screen.getByRole('img', { name: 'DAMAGED' })).toBeVisible()
  expect(server).not.toHaveBeenCalled()
})
