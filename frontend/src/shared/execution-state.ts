import type { Execution, ExecutionEvent, Status } from '../api/types'
import { isFinal } from '../live/final'

export { isFinal }

const LEASED: readonly Status[] = ['INITIALIZING', 'RUNNING']
/** The driver's last word may be this much older than its lease before we call it unconfirmed. */
const PATIENCE_MS = 5_000
/** A rate that is older says nothing about now; the server's term is the same. */
const RATE_TERM_MS = 120_000

/** Whether it may change by itself: asked for again until it does not. What waits for a driver is active, too, but nothing of it runs. */
export const isActive = (status: Status): boolean => LEASED.includes(status) || status === 'SCHEDULED'

/** The driver no longer holds the lease, so the state is only what was last known. */
export const isUnconfirmed = (execution: Execution, now: number): boolean =>
  LEASED.includes(execution.status) && execution.lease_expires_at !== null && Date.parse(execution.lease_expires_at) + PATIENCE_MS < now

/** It runs, as its driver confirms: what was measured last is of now. Else only totals hold. */
export const isAtWork = (execution: Execution, now: number): boolean => execution.status === 'RUNNING' && !isUnconfirmed(execution, now)

/** Whether a rate that was told at `time` is of now. */
export const isRateOfNow = (execution: Execution, time: string, now: number): boolean => isAtWork(execution, now) && now - Date.parse(time) <= RATE_TERM_MS

/** Milliseconds it ran, without its pauses: to its end, to now, or while it is paused to the begin of that pause. */
export function ranFor(execution: Execution, now: number): number | null {
  if (!execution.start_time) return null
  if (execution.status === 'PAUSED' || isFinal(execution.status)) return execution.duration_ms
  return (execution.duration_ms ?? 0) + Math.max(0, now - Date.parse(execution.resume_time ?? execution.start_time))
}

/** Which try of this execution an attempt is: attempts are numbered through all executions of a job. */
export const tryOf = (first: number | null, attempt: number): number => Math.max(1, attempt - (first ?? attempt) + 1)

/** SCHEDULED because an attempt failed and the next one waits. */
export const isRetrying = ({ status, next_attempt_at }: Execution): boolean => status === 'SCHEDULED' && next_attempt_at !== null

/** Whether the attempt before failed for want of another system, which uses up no retry: that is tried until it answers. `events`: newest first. */
export const waitsOutOutage = (execution: Execution, events: readonly ExecutionEvent[]): boolean =>
  isRetrying(execution) && (execution.retry_count === 0 || events.find(({ kind }) => kind === 'attempt_failed' || kind === 'lease_lost')?.detail.outages !== undefined)
