import { useEffect, useMemo } from 'react'
import type { DagDocument } from '../../dag/document'
import type { MetricsMessage, NodeCounts } from '../../live/messages'
import { countsStore, updateCounts, type CountsStore, type NodeFigures } from '../canvas/counts'

const figures = (counts: NodeCounts, still: boolean): NodeFigures => ({
  in: counts.in,
  out: counts.out,
  rejected: counts.rejected,
  late: counts.late ?? 0,
  timeless: counts.timeless ?? 0,
  inPerSecond: still ? null : counts.in_per_second,
  outPerSecond: still ? null : counts.out_per_second,
  outdatedSince: still ? '' : (counts.outdated_since ?? ''),
})

/** A batch that was under way when its driver died is written by none: its rows are not shown any more. */
const nodesOf = (metrics: MetricsMessage | null, still: boolean) => (still && metrics?.under_way ? metrics.nodes_written : metrics?.nodes)

/** Puts the latest figures into the canvas's own store; totals stay where nothing runs any more, rates go. */
export function useNodeCounts(executionId: string, document: DagDocument | undefined, metrics: MetricsMessage | null, kept: Record<string, NodeCounts> | undefined, still: boolean): CountsStore {
  // eslint-disable-next-line react-hooks/exhaustive-deps -- a store per execution
  const store = useMemo(() => countsStore(), [executionId])
  const nodes = nodesOf(metrics, still) ?? kept
  const rejectedPerSecond = still ? 0 : (metrics?.rejected_per_second ?? 0)
  const underWay = !still && Boolean(metrics?.under_way)
  useEffect(() => {
    if (!document || !nodes) return
    updateCounts(store, document, new Map(Object.entries(nodes).map(([id, counts]) => [id, figures(counts, still)])), { rejectedPerSecond, underWay }, Date.now())
  }, [store, document, nodes, still, rejectedPerSecond, underWay])
  return store
}
