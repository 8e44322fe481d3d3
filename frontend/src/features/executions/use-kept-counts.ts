import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/request'
import type { Execution, Metrics } from '../../api/types'
import type { MetricsMessage, NodeCounts } from '../../live/messages'

/** Totals per node from the newest kept sample, for an execution that tells nothing live any more. */
export function useKeptCounts(execution: Execution, metrics: MetricsMessage | null): Record<string, NodeCounts> | undefined {
  const kept = useQuery({
    queryKey: ['kept-counts', execution.execution_id, execution.seq],
    queryFn: () => request<Metrics>('GET', `/api/executions/${encodeURIComponent(execution.execution_id)}/metrics`),
    enabled: metrics === null,
    placeholderData: (old) => old,
  })
  const nodes = kept.data?.results.at(-1)?.detail.nodes
  return typeof nodes === 'object' && nodes !== null ? (nodes as Record<string, NodeCounts>) : undefined
}
