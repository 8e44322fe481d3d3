import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { said } from '../../api/sentences/said'
import type { Checkpoint, Execution, ExecutionEvent } from '../../api/types'
import type { Link } from '../../live/link-state'
import { ExecutionBadge } from '../../shared/execution-badge'
import { isFinal, isRetrying, ranFor, tryOf, waitsOutOutage } from '../../shared/execution-state'
import { duration } from '../../shared/numbers'
import { NoCheckpoint } from '../../shared/no-checkpoint'
import { RelativeTime } from '../../shared/relative-time'
import { useNow } from '../../shared/use-now'
import { ExecutionActions } from './execution-actions'
import { ExecutionPicker } from './execution-picker'

interface Props {
  execution: Execution
  link: Link
  checkpoints: readonly Checkpoint[]
  events: readonly ExecutionEvent[]
}

/** How sure the state is, or how it ended. */
function Confirmed({ execution, link, events }: Pick<Props, 'execution' | 'link' | 'events'>) {
  const { t } = useTranslation('executions')
  if (link.kind === 'stale' || link.kind === 'offline') return <span className="pw-warn">{link.kind === 'stale' ? t('shownOld', { seconds: link.seconds }) : t('shownOffline')}</span>
  if (isFinal(execution.status)) return <RelativeTime time={execution.end_time} />
  if (isRetrying(execution)) {
    return (
      <span>
        {waitsOutOutage(execution, events) ? t('nextAttempt') : t('retryOf', { number: execution.retry_count, most: execution.max_retry_times })} <RelativeTime time={execution.next_attempt_at} />
      </span>
    )
  }
  if (execution.waiting_for) {
    return (
      <span className="pw-warn">
        {t('waitingFor', { what: said(execution.waiting_for) })} <RelativeTime time={execution.waiting_since} bare />
      </span>
    )
  }
  const unprotected = execution.last_checkpoint_time ?? execution.start_time
  if (execution.checkpoint_overdue && execution.status === 'RUNNING' && unprotected) {
    return (
      <span className="pw-warn">
        <NoCheckpoint since={unprotected} />
      </span>
    )
  }
  if (execution.checkpoint_storage_warning && execution.status === 'RUNNING') {
    return <span className="pw-warn" title={execution.checkpoint_storage_warning}>{t('storageFallback')}</span>
  }
  if (!execution.confirmed_time || (execution.status !== 'RUNNING' && execution.status !== 'INITIALIZING')) return null
  return (
    <span>
      {t('confirmed')} <RelativeTime time={execution.confirmed_time} />
    </span>
  )
}

function Facts({ execution }: { execution: Execution }) {
  const { t } = useTranslation('executions')
  const now = useNow()
  const ran = ranFor(execution, now)
  const parts = [t('version', { version: execution.version }), execution.attempt > 0 ? t('attempt', { attempt: tryOf(execution.first_attempt, execution.attempt) }) : '', execution.worker]
  if (execution.resolved.trigger === 'real_time') parts.push(t('realTime'))
  if (ran !== null) parts.push(t(isFinal(execution.status) || execution.status === 'PAUSED' ? 'ranFor' : 'upFor', { duration: duration(ran) }))
  const text = parts.filter(Boolean).join(' · ')
  return (
    <Tooltip label={`${execution.execution_id} · ${text}`}>
      <span className="pw-12 pw-3 pw-cut">{text}</span>
    </Tooltip>
  )
}

/** A stop or cancel that was asked for since the latest change of status. */
function askedFor(execution: Execution, events: readonly ExecutionEvent[]): 'stop' | 'cancel' | null {
  if (isFinal(execution.status)) return null
  for (const event of events) {
    if (event.kind === 'cancel_requested') return 'cancel'
    if (event.kind === 'stop_requested') return 'stop'
    if (event.to_status) return null
  }
  return null
}

export function ExecutionHeader({ execution, link, checkpoints, events }: Props) {
  return (
    <div className="pw-head">
      <h1 title={execution.job_title || execution.job_name}>{execution.job_title || execution.job_name}</h1>
      <ExecutionBadge execution={execution} long />
      <span className="pw-12 pw-2 pw-nowrap">
        <Confirmed execution={execution} link={link} events={events} />
      </span>
      <span className="pw-sep" />
      <ExecutionPicker execution={execution} />
      <Facts execution={execution} />
      <span className="pw-grow" />
      <ExecutionActions execution={execution} checkpoints={checkpoints} asked={askedFor(execution, events)} />
    </div>
  )
}
