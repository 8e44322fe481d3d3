import type { TFunction } from 'i18next'
import { said } from '../../api/sentences/said'
import type { ExecutionEvent } from '../../api/types'
import { lessName } from '../../dag/less-name'
import { tryOf } from '../../shared/execution-state'
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
  waiting: 'warning',
  answers: 'completed',
}

/** Of a table beside a node that can be read again. */
const isUpToDateAgain = (event: ExecutionEvent): boolean => event.kind === 'notice' && event.detail.outdated_since === ''

export const eventGlyph = (event: ExecutionEvent): string => (event.kind === 'status' && event.to_status ? event.to_status.toLowerCase() : isUpToDateAgain(event) ? 'completed' : (GLYPHS[event.kind] ?? 'scheduled'))

/** One line for an event; a kind without words is said as it is. `first`: the number of its execution's first attempt. */
export function eventTitle(t: TFunction<'executions'>, event: ExecutionEvent, first: number | null): string {
  const given = { number: event.detail.checkpoint_id ?? event.detail.number ?? '', attempt: tryOf(first, event.attempt), to: stateWord(t, event.to_status), kind: event.kind }
  if (event.kind === 'status') return t(`event.to.${event.to_status}` as 'event.to.PAUSED', { defaultValue: given.to })
  const key = `event.${event.kind}`
  const words = t(key as 'event.started', given)
  return (words === key ? event.kind : words).replace(/\s+/g, ' ').trim()
}

/** The short reasons that the server writes by itself. An error's sentence, or a person's, is shown as it is. */
const REASONS: readonly [RegExp, string][] = [
  [/^version (?<version>\d+), from the beginning$/, 'beginning'],
  [/^version (?<version>\d+), continues where execution (?<execution>\S+) ended$/, 'continues'],
  [/^version (?<version>\d+), from checkpoint (?<number>\d+) of execution (?<execution>\S+)$/, 'restored'],
  [/^superseded by a restore of checkpoint (?<number>\d+)$/, 'superseded'],
  [/^handover: the worker stops$/, 'workerStops'],
  [/^handover: (?<why>.+)$/, 'handover'],
  [/^the example was reset$/, 'reset'],
  [/^its position is on the disk of "(?<host>.+)", where no driver is ready(?:: start a worker there, or .+)?$/, 'stranded'],
  [/^the batches wait for this sink: it took (?<seconds>[\d.]+) s of the (?<whole>[\d.]+) s that all sinks took$/, 'slowest'],
  [/^the broker had not kept the session of this job: what was sent while it was not connected did not arrive$/, 'sessionLost'],
  [/^asked for$/, 'asked'],
  [/^resumed$/, 'resumed'],
]

function eventReason(t: TFunction<'executions'>, event: ExecutionEvent): string {
  if (event.kind === 'claimed') return ''
  const { code, facts } = event.detail
  if (event.kind === 'notice' && typeof code === 'string') return t(`changes:of.${code}` as 'event.started', { ...(facts as object | undefined), defaultValue: event.reason })
  for (const [pattern, key] of REASONS) {
    const { groups } = pattern.exec(event.reason) ?? {}
    if (groups || pattern.test(event.reason)) return t(`reason.${key}` as 'reason.beginning', { ...groups, execution: groups?.execution?.slice(0, 8) })
  }
  return said(event.reason)
}

function eventActor(t: TFunction<'executions'>, { actor }: ExecutionEvent): string {
  const driver = /^driver (.+)$/.exec(actor)?.[1]
  if (driver) return t('actor.driver', { driver })
  return actor === 'system' ? '' : t(`actor.${actor}` as 'actor.engine', { defaultValue: actor })
}

/** Where, why and by whom, in the reader's language as far as the server's words are known. */
export const eventDetail = (t: TFunction<'executions'>, event: ExecutionEvent, nameOf: (nodeId: string) => string): string =>
  [event.node_id && t('event.node', { node: nameOf(event.node_id) }), lessName(eventReason(t, event), nameOf(event.node_id)), eventActor(t, event)].filter(Boolean).join(' · ')

/** Events worth a line in a chart. */
export const isChartMark = (event: ExecutionEvent): boolean => ['checkpoint_failed', 'attempt_failed', 'lease_lost'].includes(event.kind) || (event.kind === 'status' && event.to_status === 'FAILED')

/** Events between whose before and after no driver measured anything. */
export const breaksLine = (event: ExecutionEvent): boolean => ['attempt_failed', 'lease_lost', 'claimed'].includes(event.kind)
