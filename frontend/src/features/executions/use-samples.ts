import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Execution, Metrics } from '../../api/types'
import type { MetricsMessage } from '../../live/messages'
import { isFinal } from '../../shared/execution-state'
import { joinSamples, type Sample } from './samples'

export const RANGES: Record<string, number> = { '15m': 900, '1h': 3600, '6h': 21_600, '24h': 86_400 }
const REREAD_MS = 60_000
/** What was measured is in the database by then. */
const KEPT_MS = 3_000
const NONE: readonly MetricsMessage[] = []

/** Figures of the last `range`, up to the execution's end: kept ones, then live ones. A reload shows the same chart. */
export function useSamples(execution: Execution, range: string, live: readonly MetricsMessage[] = NONE): { samples: Sample[]; resolution: number; error: Error | null; pending: boolean; retry: () => void } {
  const seconds = RANGES[range] ?? 900
  const still = isFinal(execution.status) || execution.status === 'PAUSED'
  const path = `/api/executions/${encodeURIComponent(execution.execution_id)}/metrics`
  const kept = useQuery({
    queryKey: ['metrics', execution.execution_id, range, still],
    queryFn: () => request<Metrics>('GET', withQuery(path, { span: seconds })),
    refetchInterval: still ? false : REREAD_MS,
    placeholderData: keepPreviousData,
  })
  const { refetch } = kept
  const hears = live.length > 0
  // Between the first reading and the first live sample, and at the end, some were measured that are kept a moment later.
  useEffect(() => {
    const timer = setTimeout(() => void refetch(), KEPT_MS)
    return () => clearTimeout(timer)
  }, [refetch, hears, execution.status, range])
  const samples = useMemo(() => {
    const results = kept.data?.results ?? []
    const newest = Math.max(Date.parse(live.at(-1)?.time ?? '') || 0, Date.parse(results.at(-1)?.time ?? '') || 0)
    return joinSamples(results, live, newest - seconds * 1000)
  }, [kept.data, live, seconds])
  return { samples, resolution: kept.data?.resolution ?? 1, error: kept.error, pending: kept.isPending, retry: () => void kept.refetch() }
}
