import type { Execution } from '../api/types'

const LEASE_MS = 15_000

const at = (time: string | null) => (time === null ? 0 : Date.parse(time))

/** The execution as its driver confirmed it at `time`: the lease reaches as far beyond as it did before. */
export function confirmedAt(execution: Execution, time: string): Execution {
  if (execution.lease_expires_at === null || at(execution.confirmed_time) >= at(time)) return execution
  const term = execution.confirmed_time === null ? LEASE_MS : Math.max(1_000, at(execution.lease_expires_at) - at(execution.confirmed_time))
  return { ...execution, confirmed_time: time, lease_expires_at: new Date(Math.max(at(execution.lease_expires_at), at(time) + term)).toISOString() }
}

/** The newer word about one execution; of the same event, the one that was confirmed later. */
export function newerOf(one: Execution, other: Execution): Execution {
  if (one.seq !== other.seq) return one.seq > other.seq ? one : other
  return at(one.lease_expires_at) >= at(other.lease_expires_at) ? one : other
}
