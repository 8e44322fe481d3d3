import { describe, expect, it } from 'vitest'
import type { CheckpointPoint } from '../../api/types'
import { checkpointLines } from './checkpoint-lines'

const point = (number: number, more: Partial<CheckpointPoint> = {}): CheckpointPoint => ({ id: number, checkpoint_id: number, status: 'COMPLETED', origin: 'INTERVAL', is_savepoint: false, create_time: new Date(number * 60_000).toISOString(), duration_ms: 100 * number, bytes_logical: 10 * number, rows_between: null, since_last_ms: null, ...more })

describe('the lines of a history', () => {
  it('go over those that were whole, also when their files are gone, and failures are marks', () => {
    const results = [point(1, { status: 'EXPIRED' }), point(2, { status: 'FAILED', bytes_logical: null }), point(3, { rows_between: 500, since_last_ms: 120_000 })]
    const lines = checkpointLines({ interval: 60, more: false, results })
    expect(lines.times).toEqual([60_000, 180_000])
    expect(lines.sizes).toEqual([10, 30])
    expect(lines.took).toEqual([100, 300])
    expect(lines.rows).toEqual([null, 500])
    expect(lines.apart).toEqual([null, 120_000])
    expect(lines.failures).toEqual([{ at: 120_000, number: 2 }])
  })

  it('are empty where none was whole', () => {
    expect(checkpointLines({ interval: null, more: false, results: [point(1, { status: 'FAILED' })] }).times).toEqual([])
  })
})
