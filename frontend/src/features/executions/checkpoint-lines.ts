import type { CheckpointHistory, CheckpointPoint } from '../../api/types'

/** What charts draw of a history: a line of each measure over those that were whole, and when one failed. */
export interface CheckpointLines {
  times: number[]
  sizes: (number | null)[]
  took: (number | null)[]
  rows: (number | null)[]
  apart: (number | null)[]
  failures: { at: number; number: number }[]
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
    failures: history.results.filter((one) => one.status === 'FAILED').map((one) => ({ at: Date.parse(one.create_time), number: one.checkpoint_id })),
  }
}
