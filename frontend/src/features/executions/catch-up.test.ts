import { describe, expect, it } from 'vitest'
import type { MetricsMessage } from '../../live/messages'
import { catchUpMs } from './catch-up'

const metrics = (over: Partial<MetricsMessage>) => ({ backlog: 10_000, processed_per_second: 1000, batch_ms: 1000, ...over }) as MetricsMessage

describe('the time to catch up', () => {
  it.each([
    ['batches that follow each other', {}, 0, 10_000],
    ['batches that take longer than their interval', { batch_ms: 8000 }, 5, 10_000],
    ['batches that wait for their interval', {}, 5, 50_000],
    ['a batch whose time is not known', { batch_ms: null }, 5, 10_000]
  ])('of %s', (_, over, interval, expected) => {
    expect(catchUpMs(metrics(over), interval)).toBeCloseTo(expected)
  })

  it('is not told without a backlog or a pace', () => {
    expect(catchUpMs(metrics({ backlog: 0 }), 5)).toBeNull()
    expect(catchUpMs(metrics({ backlog: null }), 5)).toBeNull()
    expect(catchUpMs(metrics({ processed_per_second: 0 }), 5)).toBeNull()
  })
})
