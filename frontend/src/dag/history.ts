/** Undo and redo by snapshots. Quick changes of the same thing melt into one step. */

export interface History<T> {
  past: readonly T[]
  present: T
  future: readonly T[]
  /** What the latest step changed, and when; a change with the same key soon after joins it. */
  latest: { key: string; at: number } | null
}

const KEPT = 200
const JOINED_MS = 800

export const historyOf = <T>(present: T): History<T> => ({ past: [], present, future: [], latest: null })

/** `key` names what is edited (such as `config/orders/topic`); "" never joins. */
export function record<T>(history: History<T>, next: T, key: string, now: number): History<T> {
  if (next === history.present) return history
  const joins = key !== '' && history.latest?.key === key && now - history.latest.at < JOINED_MS
  const past = joins ? history.past : [...history.past, history.present].slice(-KEPT)
  return { past, present: next, future: [], latest: { key, at: now } }
}

export function undo<T>(history: History<T>): History<T> {
  const previous = history.past.at(-1)
  if (previous === undefined) return history
  return { past: history.past.slice(0, -1), present: previous, future: [history.present, ...history.future], latest: null }
}

export function redo<T>(history: History<T>): History<T> {
  const [next, ...rest] = history.future
  if (next === undefined) return history
  return { past: [...history.past, history.present], present: next, future: rest, latest: null }
}
