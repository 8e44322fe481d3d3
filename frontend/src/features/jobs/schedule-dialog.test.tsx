import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { expect, it, vi } from 'vitest'
import type { Job } from '../../api/types'
import { ScheduleDialog } from './schedule-dialog'

it('the last times tell which execution they started, and why they were skipped', async () => {
  const fires = [
    { fire_time: '2026-05-02T06:00:00Z', outcome: 'SKIPPED', reason: 'execution e-1 is PAUSED: resume or cancel it', execution_id: '' },
    { fire_time: '2026-05-01T06:00:00Z', outcome: 'STARTED', reason: '', execution_id: 'e-1' },
  ]
  const schedule = { schedule_type: 'CRON', cron_expression: '0 6 * * *', time_zone: 'UTC', enabled: true, last_trigger_time: null, next_trigger_time: null, words: '', next_times: [], fires }
  vi.stubGlobal('fetch', vi.fn<typeof fetch>().mockImplementation(() => Promise.resolve(new Response(JSON.stringify(schedule)))))
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <MemoryRouter>
          <ScheduleDialog job={{ job_name: 'orders', title: 'Orders' } as Job} onClose={vi.fn()} onDone={vi.fn()} />
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  )
  expect(await screen.findByText('execution e-1 is PAUSED: resume or cancel it')).toBeVisible()
  expect(screen.getByText('schedule.skipped')).toBeVisible()
  expect(screen.getByRole('link', { name: 'schedule.started' })).toHaveAttribute('href', '/executions/e-1')
})
