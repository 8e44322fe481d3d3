import { describe, expect, it } from 'vitest'
import type { CheckpointPoint } from '../../api/types'
import { bucketed, checkpointLines } from './checkpoint-lines'

const point = (number: number, more: Partial<CheckpointPoint> = {}): CheckpointPoint => ({ id: number, checkpoint_id: number, status: 'COMPLETED', origin: 'INTERVAL', is_savepoint: false, create_time: new Date(number * 60_000).toISOString(), duration_ms: 100 * number, bytes_logical: 10 * number, rows_between: null, since_last_ms: null, ...more })

const counts = { PENDING: 0, COMPLETED: 0, FAILED: 0, EXPIRED: 0 }

describe('the lines of a history', () => {
  it('go over those that were whole, also when their files are gone, and failures are marks', () => {
    const results = [point(1, { status: 'EXPIRED' }), point(2, { status: 'FAILED', bytes_logical: null }), point(3, { rows_between: 500, since_last_ms: 120_000 })]
    const lines = checkpointLines({ interval: 60, more: false, counts, results })
    expect(lines.times).toEqual([60_000, 180_000])
    expect(lines.sizes).toEqual([10, 30])
    expect(lines.took).toEqual([100, 300])
    expect(lines.rows).toEqual([null, 500])
    expect(lines.apart).toEqual([null, 120_000])
    expect(lines.failures).toEqual([{ at: 120_000, number: 2, count: 1 }])
  })

  it('are empty where none was whole', () => {
    expect(checkpointLines({ interval: null, more: false, counts, results: [point(1, { status: 'FAILED' })] }).times).toEqual([])
  })
})

describe('many points', () => {
  const many = (some: number) => checkpointLines({ interval: 60, more: false, counts, results: Array.from({ length: some }, (_, index) => point(index + 1, index % 100 === 50 ? { status: 'FAILED', bytes_logical: null } : { bytes_logical: index === 700 ? 9_000_000 : 10 })) })

  it('become as many as the width can show, and none of the worst is lost', () => {
    const lines = many(2000)
    const shown = bucketed(lines, 150)
    expect(shown.times.length).toBeLessThanOrEqual(51)
    expect(shown.times.length).toBeGreaterThan(40)
    expect(shown.times.at(-1)).toBe(lines.times.at(-1))
    expect(Math.max(...shown.sizes.map((one) => one ?? 0))).toBe(9_000_000)
    expect(shown.sizes.length).toBe(shown.times.length)
    expect(shown.each).toBeGreaterThan(30)
  })

  it('have failures gathered so that their lines stand apart, and none uncounted', () => {
    const shown = bucketed(many(2000), 150)
    expect(shown.failures.length).toBeLessThanOrEqual(8)
    expect(shown.failures.reduce((all, one) => all + one.count, 0)).toBe(20)
  })

  it('stay as they are where there is room', () => {
    const lines = many(40)
    expect(bucketed(lines, 300)).toEqual(lines)
  })
})
