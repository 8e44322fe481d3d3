import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Execution, Metrics } from '../../api/types'
import type { MetricsMessage } from '../../live/messages'
import { isFinal } from '../../shared/execution-state'
import { joinSamples, type Sample } from './samples'

export const RANGES: Record<string, number> = { '15m': 900, '1h': 3600, '6h': 21_600, '24h': 86_400 }
const REREAD_MS = 60_000
const NONE: readonly MetricsMessage[] = []

/** Figures of the last `range`, up to the execution's end: kept ones, then live ones. A reload shows the same chart. */
export function useSamples(execution: Execution, range: string, live: readonly MetricsMessage[] = NONE): { samples: Sample[]; resolution: number; error: Error | null; pending: boolean; retry: () => void } {
  const seconds = RANGES[range] ?? 900
  const ended = isFinal(execution.status) || execution.status === 'PAUSED' ? execution.end_time : null
  const path = `/api/executions/${encodeURIComponent(execution.execution_id)}/metrics`
  const kept = useQuery({
    queryKey: ['metrics', execution.execution_id, range, ended],
    queryFn: () => {
      const end = ended ? Date.parse(ended) + 1000 : Date.now() + 1000
      return request<Metrics>('GET', withQuery(path, { from: new Date(end - seconds * 1000).toISOString(), to: new Date(end).toISOString() }))
    },
    refetchInterval: ended ? false : REREAD_MS,
    placeholderData: keepPreviousData,
  })
  const samples = useMemo(() => {
    const results = kept.data?.results ?? []
    const newest = Math.max(Date.parse(live.at(-1)?.time ?? '') || 0, Date.parse(results.at(-1)?.time ?? '') || 0)
    return joinSamples(results, live, newest - seconds * 1000)
  }, [kept.data, live, seconds])
  return { samples, resolution: kept.data?.resolution ?? 1, error: kept.error, pending: kept.isPending, retry: () => void kept.refetch() }
}
