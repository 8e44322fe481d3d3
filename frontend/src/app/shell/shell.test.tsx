import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, waitFor } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { afterEach, expect, it, vi } from 'vitest'
import { Shell } from './shell'

afterEach(() => vi.unstubAllGlobals())

it('who signs in again comes back to the page with its filters', async () => {
  const assign = vi.fn()
  vi.stubGlobal('location', { origin: location.origin, pathname: '/executions/e-1', assign })
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"error": {"code": "signed_out", "message": "sign in"}}', { status: 401 })))
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider env="test">
        <MemoryRouter initialEntries={['/executions/e-1?tab=logs&find=a%26b']}>
          <Shell>page</Shell>
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  )
  await waitFor(() => expect(assign).toHaveBeenCalledWith(`/sign-in?next=${encodeURIComponent('/executions/e-1?tab=logs&find=a%26b')}`))
})
