import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { afterEach, expect, it, vi } from 'vitest'
import type { Job } from '../../api/types'
import { ScheduleDialog } from './schedule-dialog'

afterEach(() => vi.unstubAllGlobals())

const SCHEDULE = { schedule_type: 'CRON', cron_expression: '0 6 * * *', time_zone: 'UTC', enabled: true, last_trigger_time: null, next_trigger_time: null, words: '', next_times: [], fires: [], revision: 'a1' }

/** The dialog over what the server holds; null: no schedule. */
function opened(schedule: object | null) {
  const sent: Record<string, string>[] = []
  vi.stubGlobal('fetch', (path: string, { method, headers, body }: RequestInit) => {
    if (method === 'PUT') sent.push(headers as Record<string, string>)
    if (path.includes('schedule-times')) return Promise.resolve(new Response('{"words": "", "next_times": [], "problems": []}'))
    const answer = method === 'PUT' ? { ...SCHEDULE, ...(JSON.parse(String(body)) as object), revision: 'b2' } : schedule
    return Promise.resolve(answer ? new Response(JSON.stringify(answer)) : new Response(null, { status: 204 }))
  })
  const onClose = vi.fn()
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <MemoryRouter>
          <ScheduleDialog job={{ job_name: 'orders', title: 'Orders' } as Job} onClose={onClose} onDone={vi.fn()} />
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  )
  return { sent, onClose }
}

it('the last times tell which execution they started, and why they were skipped', async () => {
  const fires = [
    { fire_time: '2026-05-02T06:00:00Z', outcome: 'SKIPPED', reason: 'execution e-1 is PAUSED: resume or cancel it', execution_id: '' },
    { fire_time: '2026-05-01T06:00:00Z', outcome: 'STARTED', reason: '', execution_id: 'e-1' },
  ]
  opened({ ...SCHEDULE, fires })
  expect(await screen.findByText('execution e-1 is PAUSED: resume or cancel it')).toBeVisible()
  expect(screen.getByText('schedule.skipped')).toBeVisible()
  expect(screen.getByRole('link', { name: 'schedule.started' })).toHaveAttribute('href', '/executions/e-1')
})

it('it is kept over what was read only, and then over what was kept', async () => {
  const { sent, onClose } = opened(SCHEDULE)
  for (const revision of ['a1', 'b2']) {
    fireEvent.click(await screen.findByRole('switch', { name: 'schedule.enabled' }))
    fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' })
    fireEvent.click(screen.getByRole('button', { name: 'schedule.save' }))
    await waitFor(() => expect(sent.at(-1)?.['If-Match']).toBe(`"${revision}"`))
    await waitFor(() => expect(screen.getByRole('button', { name: 'schedule.save' })).toBeDisabled())
  }
  expect(onClose).not.toHaveBeenCalled()
})

it('the first one is kept only where there is none yet', async () => {
  const { sent } = opened(null)
  fireEvent.click(await screen.findByText('schedule.cron'))
  fireEvent.change(screen.getByPlaceholderText('0 6 * * *'), { target: { value: '0 7 * * *' } })
  fireEvent.click(screen.getByRole('button', { name: 'schedule.save' }))
  await waitFor(() => expect(sent.at(-1)?.['If-None-Match']).toBe('*'))
})
