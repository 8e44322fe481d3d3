import { useInfiniteQuery, keepPreviousData, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query'
import { request } from './request'
import type { Page } from './types'

/** Only path and query of the server's `next`, so that a proxy in between does not matter. */
function pathOf(address: string): string {
  const url = new URL(address, location.origin)
  return `${url.pathname}${url.search}`
}

/** Path with the given query; empty values are left out. */
export function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined && value !== '') params.set(key, String(value))
  const text = params.toString()
  return text ? `${path}?${text}` : path
}

/** A list by the server's pages: `rows` of all pages read so far, `more` reads the next. Old rows stay while new ones load. */
export function usePagedList<T>(key: readonly unknown[], path: string, options: { refetchInterval?: number; enabled?: boolean } = {}) {
  const query = useInfiniteQuery({
    queryKey: [...key, path],
    queryFn: ({ pageParam }) => request<Page<T>>('GET', pageParam),
    initialPageParam: path,
    getNextPageParam: (page) => (page.next ? pathOf(page.next) : undefined),
    placeholderData: keepPreviousData,
    ...options,
  })
  return listOf<T, Page<T>>(query)
}

/** What a table needs of a query by pages. */
export function listOf<T, P extends { results: T[] }>(query: UseInfiniteQueryResult<InfiniteData<P>>) {
  return {
    rows: query.data?.pages.flatMap((page) => page.results),
    error: query.error,
    loading: query.isPending,
    stale: query.isPlaceholderData,
    hasMore: query.hasNextPage,
    loadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
    refetch: () => void readAnew(query),
    readAnew: () => readAnew(query),
  }
}

interface Readable {
  isFetching: boolean
  refetch: (options: { cancelRefetch: boolean }) => Promise<unknown>
}

/** A reading that takes longer hangs, as on a line that broke without a word. */
const PATIENCE_MS = 20_000

function waitedFor(reading: Promise<unknown>): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout>
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)))
  return Promise.race([reading, patience]).finally(() => clearTimeout(timer))
}

/** Reads anew what a query shows, behind a reading that is under way: else that one would be dropped, and with it the page that it brings. */
export async function readAnew(query: Readable): Promise<void> {
  const behind = query.isFetching
  await waitedFor(query.refetch({ cancelRefetch: false }))
  if (behind) await waitedFor(query.refetch({ cancelRefetch: true }))
}
