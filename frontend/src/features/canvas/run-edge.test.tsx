import { act, render } from '@testing-library/react'
import { Position, ReactFlowProvider, type Edge, type EdgeProps } from '@xyflow/react'
import { expect, it, vi } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { countsStore, updateCounts } from './counts'
import { RunEdge, type RunEdgeData } from './run-edge'
import { CountsContext } from './run-node'

const props = { id: 'e', source: 'a', target: 'b', sourceX: 0, sourceY: 0, targetX: 9, targetY: 0, sourcePosition: Position.Right, targetPosition: Position.Left } as EdgeProps<Edge<RunEdgeData>>
const document_ = { edges: { e: { from: ['a', 'out'], to: ['b', 'in'] } } } as unknown as DagDocument
const figures = (perSecond: number | null) => ({ in: 5, out: 5, rejected: 0, late: 0, timeless: 0, inPerSecond: perSecond, outPerSecond: perSecond, outdatedSince: '' })

/** Whether the edge is dotted after so many seconds without news, having been told `perSecond` and whether a batch is under way. */
function isDottedAfter(seconds: number, perSecond: number | null, underWay = false) {
  vi.useFakeTimers()
  const store = countsStore()
  updateCounts(store, document_, new Map([['a', figures(perSecond)], ['b', figures(perSecond)]]), { rejectedPerSecond: 0, underWay }, Date.now())
  const { container } = render(
    <ReactFlowProvider>
      <CountsContext value={store}>
        <svg>
          <RunEdge {...props} />
        </svg>
      </CountsContext>
    </ReactFlowProvider>,
  )
  act(() => vi.advanceTimersByTime(seconds * 1000))
  return container.querySelector('.pw-edge-idle') !== null
}

it.each([[25, false], [33, true]])('turns dotted by itself once no row has moved for half a minute: %s s', (seconds, isDotted) => {
  expect(isDottedAfter(seconds, 0)).toBe(isDotted)
})

it.each([['rows move', 5, false], ['rows may move', null, false], ['a batch is under way', 0, true]])('stays drawn through while %s', (_, perSecond, underWay) => {
  expect(isDottedAfter(33, perSecond, underWay)).toBe(false)
})
