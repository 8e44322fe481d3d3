import { useTranslation } from 'react-i18next'
import type { Execution } from '../../api/types'
import type { MetricsMessage } from '../../live/messages'
import { isFinal } from '../../shared/execution-state'
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

/** Rows in, out and rejected, what was dropped unread, backlog, batch, last checkpoint; of a single query its time instead, the rest has no meaning there. */
export function ExecutionStrip({ execution, metrics }: { execution: Execution; metrics: MetricsMessage | null }) {
  const { t } = useTranslation('executions')
  const still = isFinal(execution.status) || execution.status === 'PAUSED'
  const perSecond = (value: number | undefined) => (still || value === undefined ? '' : t('strip.perSecond', { rate: rate(value) }))
  const backlog = metrics?.backlog ?? null
  const left = still || metrics === null ? null : catchUpMs(metrics, Number(execution.resolved.trigger_interval ?? 0))
  const catchUp = left === null ? '' : t('strip.catchUp', { duration: duration(left) })
  const rejected = execution.failed_records
  const dropped = execution.dropped_records
  const pressed = !still && (execution.backpressure_status === 'HOLDING' || execution.backpressure_status === 'DROPPING')
  return (
    <div className="pw-strip">
      <Figure label={t('strip.in')} note={perSecond(metrics?.in_per_second)}>
        {count(execution.processed_records)}
      </Figure>
      <Figure label={t('strip.out')} note={perSecond(metrics?.out_per_second)}>
        {count(execution.written_records)}
      </Figure>
      <Figure label={t('strip.rejected')} {...(rejected > 0 ? { tone: 'bad' as const } : {})} note={rejected > 0 ? percent(rejected, execution.processed_records) : ''}>
        {count(rejected)}
      </Figure>
      {execution.job_type === 'SQL_TASK' ? (
        <Figure label={t('strip.query')}>{duration(metrics?.batch_ms)}</Figure>
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
          <Figure label={t('strip.batch')} note={metrics?.batch_id == null ? '' : t('strip.batchNumber', { number: count(metrics.batch_id) })}>
            {duration(metrics?.batch_ms)}
          </Figure>
          <LastCheckpoint execution={execution} />
        </>
      )}
    </div>
  )
}
