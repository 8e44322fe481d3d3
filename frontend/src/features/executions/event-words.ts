import type { TFunction } from 'i18next'
import type { ExecutionEvent } from '../../api/types'
import { stateWord } from '../../shared/state-word'

const GLYPHS: Record<string, string> = {
  triggered: 'scheduled',
  claimed: 'initializing',
  started: 'running',
  attempt_failed: 'failed',
  lease_lost: 'stale',
  stop_requested: 'paused',
  cancel_requested: 'cancelled',
  checkpoint_requested: 'checkpointing',
  checkpoint_pending: 'checkpointing',
  checkpoint_completed: 'completed',
  checkpoint_failed: 'failed',
  checkpoint_deleted: 'expired',
  completed: 'completed',
  notice: 'warning',
}

export const eventGlyph = (event: ExecutionEvent): string => (event.kind === 'status' && event.to_status ? event.to_status.toLowerCase() : (GLYPHS[event.kind] ?? 'scheduled'))

/** One line for an event; a kind without words is said as it is. */
export function eventTitle(t: TFunction<'executions'>, event: ExecutionEvent): string {
  const given = { number: event.detail.checkpoint_id ?? event.detail.number ?? '', attempt: event.attempt, from: stateWord(t, event.from_status), to: stateWord(t, event.to_status), kind: event.kind }
  if (event.kind === 'status') return event.from_status ? t('event.status', given) : given.to
  const key = `event.${event.kind}`
  const words = t(key as 'event.status', given)
  return (words === key ? event.kind : words).replace(/\s+/g, ' ').trim()
}

/** Events worth a line in a chart. */
export const isChartMark = (event: ExecutionEvent): boolean => ['checkpoint_failed', 'attempt_failed', 'lease_lost'].includes(event.kind) || (event.kind === 'status' && event.to_status === 'FAILED')
