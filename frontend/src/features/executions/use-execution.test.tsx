import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { expect, it, vi } from 'vitest'
import { useExecution } from './use-execution'

const close = vi.hoisted(() => vi.fn())
vi.mock('../../live/live-socket', () => ({ liveSocket: () => ({ reread: vi.fn(), close }) }))

it('an execution that may no longer be seen is not shown as it was, nor listened to', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const server = vi.fn<typeof fetch>()
  server.mockResolvedValueOnce(new Response(JSON.stringify({ execution_id: 'e-1', status: 'RUNNING' })))
  server.mockImplementation(() => Promise.resolve(new Response(JSON.stringify({ error: { code: 'not_found', message: 'not for you' } }), { status: 404 })))
  vi.stubGlobal('fetch', server)
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>
  const { result } = renderHook(() => useExecution('e-1'), { wrapper })
  await waitFor(() => expect(result.current.execution?.status).toBe('RUNNING'))
  expect(close).not.toHaveBeenCalled()
  result.current.retry()
  await waitFor(() => expect(result.current.error?.message).toBe('not for you'))
  expect(result.current.execution).toBeUndefined()
  expect(close).toHaveBeenCalledOnce()
})
