import type { Execution, Status } from '../api/types'

export { isFinal } from '../live/final'

const LEASED: readonly Status[] = ['INITIALIZING', 'RUNNING']
/** The driver's last word may be this much older than its lease before we call it unconfirmed. */
const PATIENCE_MS = 5_000

export const isActive = (status: Status): boolean => LEASED.includes(status) || status === 'SCHEDULED'

/** The driver no longer holds the lease, so the state is only what was last known. */
export const isUnconfirmed = (execution: Execution, now: number): boolean =>
  LEASED.includes(execution.status) && execution.lease_expires_at !== null && Date.parse(execution.lease_expires_at) + PATIENCE_MS < now

/** Milliseconds it ran: to its end, to now, or while it is paused to its driver's last word. */
export function ranFor(execution: Execution, now: number): number | null {
  if (!execution.start_time) return null
  const until = execution.end_time ?? (execution.status === 'PAUSED' ? execution.confirmed_time : null)
  return Math.max(0, (until ? Date.parse(until) : now) - Date.parse(execution.start_time))
}

/** Which try of this execution an attempt is: attempts are numbered through all executions of a job. */
export const tryOf = (first: number | null, attempt: number): number => Math.max(1, attempt - (first ?? attempt) + 1)

/** SCHEDULED because an attempt failed and the next one waits. */
export const isRetrying = (execution: Execution): boolean => execution.status === 'SCHEDULED' && execution.retry_count > 0
