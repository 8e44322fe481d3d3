import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { usePagedList } from './pages'

let hanging: boolean

beforeEach(() => {
  vi.useFakeTimers()
  hanging = false
  vi.stubGlobal('fetch', async (path: string) => {
    if (hanging) await new Promise(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const page = Number(new URL(path, location.origin).searchParams.get('page') ?? '1')
    return new Response(JSON.stringify({ results: [page], next: `/api/things?page=${String(page + 1)}` }))
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const pass = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds))

async function listed() {
  const client = new QueryClient()
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>
  const { result } = renderHook(() => usePagedList<number>(['things'], '/api/things'), { wrapper })
  await pass(200)
  return result
}

it('a page that is read while the list is to be read anew is there when both are done', async () => {
  const result = await listed()
  expect(result.current.rows).toEqual([1])
  act(() => result.current.more())
  await pass(20)
  act(() => result.current.refetch())
  await pass(1_000)
  expect(result.current.rows).toEqual([1, 2])
})

it('a reading that hangs is given up for another', async () => {
  const result = await listed()
  hanging = true
  act(() => result.current.refetch())
  await pass(1_000)
  hanging = false
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ results: [7], next: null }))))
  act(() => result.current.refetch())
  await pass(10_000)
  expect(result.current.rows).toEqual([1])
  await pass(15_000)
  expect(result.current.rows).toEqual([7])
})
