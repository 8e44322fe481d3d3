/** How fresh the page is: live, reconnecting for a moment, stale for longer, or without any network. */
export type Link = { kind: 'live' } | { kind: 'reconnecting'; attempt: number } | { kind: 'stale'; seconds: number } | { kind: 'offline' }

export interface Connectivity {
  open: boolean
  /** When the socket was last known to be open, in ms; null before the first time. */
  lastOpenAt: number | null
  startedAt: number
  attempt: number
  onLine: boolean
}

export const STALE_AFTER_MS = 10_000

export function linkOf(now: number, link: Connectivity): Link {
  if (!link.onLine) return { kind: 'offline' }
  if (link.open) return { kind: 'live' }
  const silent = now - (link.lastOpenAt ?? link.startedAt)
  return silent < STALE_AFTER_MS ? { kind: 'reconnecting', attempt: Math.max(1, link.attempt) } : { kind: 'stale', seconds: Math.round(silent / 1000) }
}
