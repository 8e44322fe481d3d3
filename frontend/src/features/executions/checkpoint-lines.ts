import type { CheckpointHistory, CheckpointPoint } from '../../api/types'

type Line = (number | null)[]

/** What charts draw of a history: a line of each measure over those that were whole, and when one failed. */
export interface CheckpointLines {
  times: number[]
  sizes: Line
  took: Line
  rows: Line
  apart: Line
  /** Each with how many failed around then, `number` being the last of them. */
  failures: { at: number; number: number; count: number }[]
  /** So many checkpoints stand behind each point, about. */
  each: number
}


export function checkpointLines(history: CheckpointHistory): CheckpointLines {
  const whole = history.results.filter((one) => one.status !== 'FAILED')
  const of = (measure: (one: CheckpointPoint) => number | null) => whole.map(measure)
  return {
    times: whole.map((one) => Date.parse(one.create_time)),
    sizes: of((one) => one.bytes_logical),
    took: of((one) => one.duration_ms),
    rows: of((one) => one.rows_between),
    apart: of((one) => one.since_last_ms),
    failures: history.results.filter((one) => one.status === 'FAILED').map((one) => ({ at: Date.parse(one.create_time), number: one.checkpoint_id, count: 1 })),
    each: 1,
  }
}

/** A line needs so many pixels from one point to the next, and marks from one to the next. */
const POINT_PX = 3
const MARK_PX = 24

const largest = (line: Line, from: number, to: number) => line.slice(from, to).reduce<number | null>((most, value) => (value !== null && (most === null || value > most) ? value : most), null)

/** As many points as `width` pixels can show: of those that fall together the largest figure, at the time of the last of them. */
export function bucketed(lines: CheckpointLines, width: number): CheckpointLines {
  const first = Math.min(lines.times[0] ?? 0, lines.failures[0]?.at ?? Infinity)
  const last = Math.max(lines.times.at(-1) ?? 0, lines.failures.at(-1)?.at ?? 0)
  const bucketOf = (at: number, pixels: number) => Math.floor(((at - first) / Math.max(1, last - first)) * Math.max(1, width / pixels))
  const failures = lines.failures.filter((one, index) => index + 1 === lines.failures.length || bucketOf(one.at, MARK_PX) !== bucketOf(lines.failures[index + 1]?.at ?? 0, MARK_PX))
  const gathered = failures.map((one, index) => ({ ...one, count: lines.failures.filter(({ at }) => at <= one.at && at > (failures[index - 1]?.at ?? -Infinity)).length }))
  if (lines.times.length <= width / POINT_PX) return { ...lines, failures: gathered }
  const ends = lines.times.flatMap((at, index) => (index + 1 === lines.times.length || bucketOf(at, POINT_PX) !== bucketOf(lines.times[index + 1] ?? 0, POINT_PX) ? [index + 1] : []))
  const of = (line: Line) => ends.map((end, index) => largest(line, ends[index - 1] ?? 0, end))
  return {
    times: ends.map((end) => lines.times[end - 1] ?? 0),
    sizes: of(lines.sizes),
    took: of(lines.took),
    rows: of(lines.rows),
    apart: of(lines.apart),
    failures: gathered,
    each: Math.round(lines.times.length / ends.length),
  }
}
