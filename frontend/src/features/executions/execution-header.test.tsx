import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Execution } from '../../api/types'
import { event, execution } from '../../live/builders'
import { ExecutionHeader } from './execution-header'

beforeEach(() => void vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"results": []}'))))

/** What the head says of one that waits for its next attempt. */
const waiting = (change: Partial<Execution>, detail: Record<string, unknown>) =>
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <MemoryRouter>
          <ExecutionHeader execution={execution({ status: 'SCHEDULED', shown_status: 'SCHEDULED', next_attempt_at: new Date(Date.now() + 42_000).toISOString(), ...change })} link={{ kind: 'live' }} checkpoints={[]} events={[event(5, { kind: 'attempt_failed', detail })]} />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )

it('a stream that waits out an outage of another system says when it tries again, and counts no retry', () => {
  waiting({}, { outages: 1 })
  expect(screen.getByText(/nextAttempt/)).toHaveTextContent('time.ahead')
})

it('an outage after earlier retries is not told as one more of them', () => {
  waiting({ retry_count: 3 }, { outages: 1 })
  expect(screen.getByText(/nextAttempt/)).toBeInTheDocument()
  expect(screen.queryByText(/retryOf/)).toBeNull()
})

it('a retry is counted', () => {
  waiting({ retry_count: 1 }, {})
  expect(screen.getByText(/retryOf/)).toBeInTheDocument()
})
