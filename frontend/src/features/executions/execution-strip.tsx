import { useTranslation } from 'react-i18next'
import type { Execution } from '../../api/types'
import type { MetricsMessage } from '../../live/messages'
import { isAtWork } from '../../shared/execution-state'
import { Figure, Unit } from '../../shared/figure'
import { count, duration, NO_VALUE, percent, rate, span } from '../../shared/numbers'
import { useNow } from '../../shared/use-now'
import { catchUpMs } from './catch-up'

/** The last completed checkpoint's age, with a warning once the server calls it overdue. */
function LastCheckpoint({ execution }: { execution: Execution }) {
  const { t } = useTranslation(['executions', 'shared'])
  const now = useNow()
  const every = Number(execution.resolved.checkpoint_interval ?? 0) * 1000
  const at = execution.last_checkpoint_time ? Date.parse(execution.last_checkpoint_time) : null
  const age = at === null ? null : now - at
  const shown = age === null ? null : span(age)
  return (
    <Figure label={t('strip.checkpoint')} {...(execution.checkpoint_overdue ? { tone: 'warn' as const, glyph: 'stale' } : {})} note={every > 0 ? t('strip.every', { duration: duration(every) }) : ''}>
      {shown ? (
        <>
          {shown.value} <Unit>{t('strip.ago', { unit: t(`shared:unit.${shown.unit}`) })}</Unit>
        </>
      ) : (
        NO_VALUE
      )}
    </Figure>
  )
}

/** How long the newest batch took or, while one lasts, has been at work, and how far it is. A single query has one batch, which needs no number. */
function Batch({ metrics, single, still }: { metrics: MetricsMessage | null; single: boolean; still: boolean }) {
  const { t } = useTranslation('executions')
  const now = useNow()
  const underWay = still ? null : (metrics?.under_way ?? null)
  const number = underWay?.batch_id ?? metrics?.batch_id ?? null
  const told = [
    single || number === null ? '' : t('strip.batchNumber', { number: count(number) }),
    underWay === null ? '' : underWay.tasks > 0 ? t('strip.tasks', { done: count(underWay.tasks_done), tasks: count(underWay.tasks) }) : t('strip.underWay'),
  ]
  return (
    <Figure label={t(single ? 'strip.query' : 'strip.batch')} note={told.filter(Boolean).join(', ')}>
      {duration(underWay ? Math.max(0, now - Date.parse(underWay.since)) : metrics?.batch_ms)}
    </Figure>
  )
}

/** Rows in (once it failed, without those of the batch at which it did), out and rejected, what was dropped unread, backlog, batch, last checkpoint; of a single query its time instead, the rest has no meaning there. */
export function ExecutionStrip({ execution, metrics }: { execution: Execution; metrics: MetricsMessage | null }) {
  const { t } = useTranslation('executions')
  const still = !isAtWork(execution, useNow())
  const perSecond = (value: number | undefined) => (still || value === undefined ? '' : t('strip.perSecond', { rate: rate(value) }))
  const soFar = still ? 0 : (metrics?.under_way?.rows_in ?? 0)
  const backlog = metrics?.backlog ?? null
  const left = still || metrics === null ? null : catchUpMs(metrics, Number(execution.resolved.trigger_interval ?? 0))
  const catchUp = left === null ? '' : t('strip.catchUp', { duration: duration(left) })
  const rejected = execution.failed_records
  const dropped = execution.dropped_records
  const pressed = !still && (execution.backpressure_status === 'HOLDING' || execution.backpressure_status === 'DROPPING')
  return (
    <div className="pw-strip">
      <Figure label={t('strip.in')} note={execution.status === 'FAILED' ? t('strip.written') : perSecond(metrics?.in_per_second)}>
        {count(execution.processed_records + soFar)}
      </Figure>
      <Figure label={t('strip.out')} note={perSecond(metrics?.out_per_second)}>
        {count(execution.written_records)}
      </Figure>
      <Figure label={t('strip.rejected')} {...(rejected > 0 ? { tone: 'bad' as const } : {})} note={rejected > 0 ? percent(rejected, execution.processed_records) : ''}>
        {count(rejected)}
      </Figure>
      {execution.job_type === 'SQL_TASK' ? (
        <Batch metrics={metrics} single still={still} />
      ) : (
        <>
          {dropped > 0 && (
            <Figure label={t('strip.dropped')} tone="bad" note={t('strip.droppedUnread')}>
              {count(dropped)}
            </Figure>
          )}
          <Figure label={t('strip.backlog')} note={pressed ? t(`strip.pressure.${execution.backpressure_status}`) : catchUp} {...(pressed ? { tone: 'warn' as const } : {})}>
            {count(still || pressed ? execution.buffer_size : backlog)}
          </Figure>
          <Batch metrics={metrics} single={false} still={still} />
          <LastCheckpoint execution={execution} />
        </>
      )}
    </div>
  )
}
