import type { MetricSample } from '../../api/types'
import type { MetricsMessage, NodeCounts } from '../../live/messages'

/** One moment of an execution, from the database or from the live link. */
export interface Sample {
  time: number
  in: number
  out: number
  processed: number | null
  rejected: number | null
  batchId: number | null
  batchMs: number | null
  backlog: number | null
  watermarkMs: number | null
  stateBytes: number | null
  stateRows: number | null
  phases: Record<string, number>
  nodes: Record<string, NodeCounts>
}

/** An execution tells its first sample sooner than this. */
const LATE_MS = 60_000

const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)

function phasesOf(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
}

/** How far the watermark lies behind; null where there is none, or it is still at the beginning of time. */
function gapOf(watermark: unknown, time: number): number | null {
  const at = typeof watermark === 'string' ? Date.parse(watermark) : Number.NaN
  return Number.isFinite(at) && at > 0 ? Math.max(0, time - at) : null
}

function sampleOf(row: { time: string; in_per_second: number; out_per_second: number; batch_id: number | null; batch_ms: number | null; backlog: number | null }, detail: Record<string, unknown>): Sample {
  const time = Date.parse(row.time)
  return {
    time,
    in: row.in_per_second,
    out: row.out_per_second,
    processed: number(detail.processed_per_second),
    rejected: number(detail.rejected_per_second),
    batchId: row.batch_id,
    batchMs: row.batch_ms,
    backlog: row.backlog,
    watermarkMs: gapOf(detail.watermark, time),
    stateBytes: number(detail.state_bytes),
    stateRows: number(detail.state_rows),
    phases: phasesOf(detail.durations_ms),
    nodes: (detail.nodes ?? {}) as Record<string, NodeCounts>,
  }
}

/** What the database kept, then what the live link said since; nothing twice. */
export function joinSamples(kept: readonly MetricSample[], live: readonly MetricsMessage[], from: number): Sample[] {
  const stored = kept.map((row) => sampleOf(row, row.detail))
  const last = stored.at(-1)?.time ?? 0
  const fresh = live.filter((message) => Date.parse(message.time) >= last + 1000).map((message) => sampleOf(message, { ...message }))
  return [...stored, ...fresh].filter((sample) => sample.time >= from)
}

/** Spark's phases under five words, in the order of time. */
export const PHASES: readonly { key: string; color: string; spark: readonly string[] }[] = [
  { key: 'offsets', color: 'phase-offsets', spark: ['latestOffset', 'getBatch'] },
  { key: 'plan', color: 'phase-plan', spark: ['queryPlanning'] },
  { key: 'rows', color: 'phase-batch', spark: ['addBatch'] },
  { key: 'log', color: 'phase-wal', spark: ['walCommit'] },
  { key: 'commit', color: 'phase-commit', spark: ['commitOffsets', 'commitBatch'] },
]

interface Batch {
  /** What its samples have in common. One of another query may share the number, but hardly all of the milliseconds. */
  told: string
  time: number
  phases: number[]
}

const phaseMs = (sample: Sample) => PHASES.map(({ spark }) => spark.reduce((total, key) => total + (sample.phases[key] ?? 0), 0))

/** A sample tells the batch that ended last in any of the queries, which number theirs each from 0. */
function batchOf(sample: Sample): Batch | null {
  if (sample.batchId === null || Object.keys(sample.phases).length === 0) return null
  const phases = phaseMs(sample)
  return { told: [sample.batchId, sample.batchMs, ...phases].join(), time: sample.time, phases }
}

/**
 * One row per batch, in the order of time: its end and the milliseconds of each of the five phases. A batch is told again in every
 * sample until the next one ends, so it ended when it was told first. Where `begun` is given, the samples may begin in the middle of
 * an execution: what their first one tells ended before.
 */
export function batchesOf(samples: readonly Sample[], most: number, begun = Number.POSITIVE_INFINITY): { times: number[]; phases: number[][]; count: number } {
  const told = samples.map(batchOf).filter((batch) => batch !== null)
  const batches = told.filter((batch, place) => batch.told !== told[place - 1]?.told)
  const first = samples[0]
  if (first && first.time - begun > LATE_MS && batches[0]?.time === first.time) batches.shift()
  const drawn = batches.slice(-most)
  return { times: drawn.map((batch) => batch.time), phases: PHASES.map((_, place) => drawn.map((batch) => batch.phases[place] ?? 0)), count: batches.length }
}
