import { expect, it } from 'vitest'
import type { MetricSample } from '../../api/types'
import { metrics } from '../../live/builders'
import { batchesOf, joinSamples } from './samples'

const kept = (time: string, change: Partial<MetricSample> = {}): MetricSample => ({ time, rows_in: 0, rows_out: 0, rows_rejected: 0, in_per_second: 1, out_per_second: 0, batch_id: null, batch_ms: null, backlog: null, detail: {}, ...change })

it('joins kept and live samples without telling one twice', () => {
  const samples = joinSamples([kept('2026-11-21T10:00:00Z'), kept('2026-11-21T10:00:01Z')], [metrics('2026-11-21T10:00:01.400Z'), metrics('2026-11-21T10:00:02.500Z', { in_per_second: 9 })], 0)
  expect(samples.map((one) => one.in)).toEqual([1, 1, 9])
})

it('leaves out what is before the range', () => {
  expect(joinSamples([kept('2026-11-21T10:00:00Z')], [], Date.parse('2026-11-21T11:00:00Z'))).toEqual([])
})

it('tells no watermark gap while the watermark is at the beginning of time', () => {
  const [sample] = joinSamples([kept('2026-11-21T10:00:00Z', { detail: { watermark: '1970-01-01T00:00:00Z' } })], [], 0)
  expect(sample?.watermarkMs).toBeNull()
})

it('shows a batch once, with Spark’s phases under five words', () => {
  const detail = { durations_ms: { latestOffset: 10, getBatch: 5, queryPlanning: 20, addBatch: 300, walCommit: 7, commitOffsets: 9, triggerExecution: 360 } }
  const samples = joinSamples([kept('2026-11-21T10:00:00Z', { batch_id: 4, detail }), kept('2026-11-21T10:00:01Z', { batch_id: 4, detail }), kept('2026-11-21T10:00:05Z', { batch_id: 5, detail })], [], 0)
  const batches = batchesOf(samples, 40)
  expect(batches.times).toHaveLength(2)
  expect(batches.phases.map((phase) => phase[0])).toEqual([15, 20, 300, 7, 9])
})

const told = (second: number, batch_id: number) => kept(`2026-11-21T10:00:${String(second).padStart(2, '0')}Z`, { batch_id, detail: { durations_ms: { addBatch: 300 } } })

it('a batch stays at the time when it ended, while nothing new comes', () => {
  const { times } = batchesOf(joinSamples([told(0, 4), told(10, 4), told(20, 4)], [], 0), 40)
  expect(times).toEqual([Date.parse('2026-11-21T10:00:00Z')])
})

it('a batch that ended before the range is not told to have ended in it', () => {
  const samples = joinSamples([told(0, 4), told(10, 4), told(20, 5)], [], 0)
  expect(batchesOf(samples, 40, Date.parse('2026-11-21T09:00:00Z')).times).toEqual([Date.parse('2026-11-21T10:00:20Z')])
  expect(batchesOf(samples, 40, Date.parse('2026-11-21T09:59:58Z')).count).toBe(2)
})

it('batches of several queries that share a number each have a bar, in the order of time', () => {
  const of = (second: number, batch_id: number, ms: number) => kept(`2026-11-21T10:00:${String(second).padStart(2, '0')}Z`, { batch_id, batch_ms: ms, detail: { durations_ms: { addBatch: ms } } })
  const { times, phases, count } = batchesOf(joinSamples([of(1, 0, 300), of(2, 0, 24_800), of(3, 0, 24_800), of(4, 1, 200), of(5, 0, 900), of(6, 1, 250)], [], 0), 40)
  expect(phases[2]).toEqual([300, 24_800, 200, 900, 250])
  expect(times.map((time) => new Date(time).getSeconds())).toEqual([1, 2, 4, 5, 6])
  expect(count).toBe(5)
})

it('a batch is told to go on over moments that tell none, and as the live link tells it', () => {
  const detail = { durations_ms: { addBatch: 300, latestOffset: 10 } }
  const live = metrics('2026-11-21T10:00:04Z', { batch_id: 4, durations_ms: { latestOffset: 10, addBatch: 300 } })
  const samples = joinSamples([kept('2026-11-21T10:00:00Z', { batch_id: 4, detail }), kept('2026-11-21T10:00:01Z')], [live], 0)
  expect(batchesOf(samples, 40).count).toBe(1)
})
