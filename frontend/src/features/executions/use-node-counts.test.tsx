import { renderHook } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { metrics } from '../../live/builders'
import type { NodeCounts } from '../../live/messages'
import { useNodeCounts } from './use-node-counts'

const nothing = { nodes: {}, edges: {} } as unknown as DagDocument
const sent = (out: number): Record<string, NodeCounts> => ({ src: { in: null, out, rejected: 0, late: 0, timeless: 0, in_per_second: null, out_per_second: 5, outdated_since: '' } })
const underWay = { batch_id: 1, since: '2026-01-01T00:00:00Z', tasks_done: 1, tasks: 8, rows_in: 5 }

it.each([
  ['while it is written, rows of a batch count as they pass', false, underWay, 15],
  ['where its driver died, nobody writes them', true, underWay, 10],
  ['without a batch under way all are written', true, null, 15],
])('%s', (_, still, batch, shown) => {
  const message = metrics('2026-01-01T00:00:03Z', { under_way: batch, nodes: sent(15), nodes_written: batch ? sent(10) : {} })
  const { result } = renderHook(() => useNodeCounts('one', nothing, message, undefined, still))
  expect(result.current.nodes.get('src')?.out).toBe(shown)
})
