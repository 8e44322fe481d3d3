import { useInfiniteQuery, keepPreviousData } from '@tanstack/react-query'
import { listOf, withQuery } from '../../../api/pages'
import { request } from '../../../api/request'
import type { Cleanup, Orphans, Retention } from '../../../api/types'

const ROWS = 100

/** What is asked of the rule or of the orphans: '' for all. */
export interface Asked {
  job?: string
  action?: string
  kind?: string
  operated?: boolean
}

/** Pages of a list that counts in offsets; `facts` are those of the newest page read. */
function usePages<T, P extends { count: number; results: T[] }>(path: string, asked: Asked) {
  const query = useInfiniteQuery({
    queryKey: ['checkpoints', path, asked],
    queryFn: ({ pageParam, signal }) => request<P>('GET', withQuery(path, { ...asked, operated: asked.operated || undefined, offset: pageParam, rows: ROWS }), undefined, {}, signal),
    initialPageParam: 0,
    getNextPageParam: (page, _pages, offset) => (offset + page.results.length < page.count && page.results.length > 0 ? offset + ROWS : undefined),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
  return { facts: query.data?.pages[0], ...listOf<T, P>(query) }
}

export const useRetention = (asked: Asked) => usePages<Retention['results'][number], Retention>('/api/checkpoints/retention', asked)
export const useOrphans = (asked: Asked) => usePages<Orphans['results'][number], Orphans>('/api/checkpoints/orphans', asked)
export const cleanUp = () => request<Cleanup>('POST', '/api/checkpoints/cleanup', { dry_run: false, brief: true })
