import { useQuery } from '@tanstack/react-query'
import { request } from '../api/request'
import type { Job } from '../api/types'

const NONE: readonly Job[] = []

/** The jobs that came with the installation: they can be run at once, and set back. */
export function useExamples(): readonly Job[] {
  const { data } = useQuery({ queryKey: ['examples'], queryFn: async () => (await request<{ results: Job[] }>('GET', '/api/examples')).results, staleTime: 30_000, retry: false })
  return data ?? NONE
}
