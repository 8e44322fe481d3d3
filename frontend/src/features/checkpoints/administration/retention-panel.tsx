import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { RetentionItem, RetentionReason } from '../../../api/types'
import { SizeFigure } from '../../../shared/checkpoints/size-figure'
import { DataTable, type Column } from '../../../shared/data-table'
import { Failure } from '../../../shared/failure'
import { FilterMenu } from '../../../shared/filter-menu'
import { MoreRows } from '../../../shared/more-rows'
import { Notice } from '../../../shared/notice'
import { count } from '../../../shared/numbers'
import { RelativeTime } from '../../../shared/relative-time'
import './cleaning.css'
import { useRetention, type Asked } from './cleaning-requests'
import { whyOf } from './cleaning-words'
import './i18n'

interface Reasons {
  action: 'delete' | 'keep'
  reasons: readonly RetentionReason[]
  asked: Asked
  onAsk: (asked: Asked) => void
}

/** How many go, or stay, and what they take alone; by reason, each of which narrows the list. */
function ReasonGroup({ action, reasons, asked, onAsk }: Reasons) {
  const { t } = useTranslation('cleaning')
  const mine = reasons.filter((one) => one.action === action)
  const total = mine.reduce((sum, one) => sum + one.count, 0)
  const taken = mine.reduce((sum, one) => sum + one.bytes, 0)
  const isAsked = asked.action === action
  return (
    <div className="pw-reasons" role="group" aria-label={t(action === 'delete' ? 'go' : 'stay')}>
      <button type="button" className="pw-reason pw-reason-all" data-does={action} aria-pressed={isAsked && !asked.kind} onClick={() => onAsk(isAsked && !asked.kind ? {} : { action })}>
        <b>{t(action === 'delete' ? 'go' : 'stay')}</b> <span>{count(total)}</span> <span className="pw-3">· <SizeFigure value={taken} /></span>
      </button>
      {mine.map((one) => {
        const on = isAsked && asked.kind === one.kind
        return (
          <button key={one.kind} type="button" className="pw-reason" aria-pressed={on} onClick={() => onAsk(on ? { action } : { action, kind: one.kind })}>
            {t(`reason.${one.kind}`)} <span>{count(one.count)}</span> <span className="pw-3">· <SizeFigure value={one.bytes} /></span>
          </button>
        )
      })}
    </div>
  )
}

interface Props {
  asked: Asked
  onAsk: (asked: Asked) => void
  /** Within a dialog there is no room for all columns. */
  narrow?: boolean
}

/** What the rule deletes at its next run, and why each of the rest stays. */
export default function RetentionPanel({ asked, onAsk, narrow = false }: Props) {
  const { t } = useTranslation('cleaning')
  const list = useRetention(asked)
  const { job, operated } = asked
  const narrowTo = (more: Asked) => onAsk({ job, operated, ...more })
  const columns: Column<RetentionItem>[] = [
    { key: 'job', title: t('column.job'), width: narrow ? 170 : 240, cell: (one) => <button type="button" className="pw-link pw-mono pw-cut" title={one.job_title} onClick={() => narrowTo({ action: asked.action, kind: asked.kind, job: one.job_name })}>{one.job_name}</button> },
    { key: 'execution', title: t('column.execution'), width: 104, cell: (one) => <Link className="pw-link pw-mono" to={`/executions/${one.execution_id}?tab=checkpoints&checkpoint=${one.checkpoint}`} title={one.execution_id}>{one.execution_id.slice(0, 8)}</Link> },
    { key: 'number', title: t('column.number'), width: 84, numeric: true, cell: (one) => <span className="pw-mono">{count(one.checkpoint_id)}</span> },
    { key: 'taken', title: t('column.taken'), width: 104, numeric: true, cell: (one) => <RelativeTime time={one.create_time} /> },
    { key: 'does', title: t('column.does'), width: 84, cell: (one) => <span className={one.action === 'delete' ? 'pw-does pw-bad' : 'pw-does pw-2'}>{t(one.action === 'delete' ? 'goes' : 'stays')}</span> },
    { key: 'why', title: t('column.why'), cell: (one) => <span className="pw-cut" title={one.needed_by || whyOf(t, one)}>{whyOf(t, one)}</span> },
    { key: 'alone', title: t('column.alone'), width: 104, numeric: true, cell: (one) => <SizeFigure value={one.bytes} /> },
  ]
  if (list.error && !list.rows) return <Failure error={list.error} what={t('rule')} retry={list.refetch} />
  const reasons = list.facts?.reasons ?? []
  const isEmpty = list.facts !== undefined && reasons.length === 0
  return (
    <>
      {!isEmpty && (
        <div className={`pw-reason-lines${narrow ? ' pw-reason-lines-in' : ''}`}>
          <ReasonGroup action="delete" reasons={reasons} asked={asked} onAsk={narrowTo} />
          <ReasonGroup action="keep" reasons={reasons} asked={asked} onAsk={narrowTo} />
          {!narrow && list.facts && <span className="pw-12 pw-3 pw-reason-next">{t('next')} <RelativeTime time={list.facts.next_run} /></span>}
          {job && <FilterMenu label={t('filter.job')} value={job} onChange={(value) => onAsk({ ...asked, job: value })} options={[{ value: job, label: job }]} />}
        </div>
      )}
      <div className={`pw-table-wrap ${narrow ? 'pw-cleanup' : 'pw-grow'}`} data-stale={list.stale || undefined}>
        {list.rows?.length !== 0 && <DataTable label={t('rule')} columns={narrow ? columns.filter(({ key }) => key !== 'execution' && (key !== 'does' || !asked.action)) : columns} rows={list.rows} keyOf={(one) => one.checkpoint} loading={list.loading} />}
        {list.rows?.length === 0 && <Notice page={!narrow} title={t(isEmpty ? 'noneAtAll' : asked.action === 'delete' && !asked.kind && !job ? 'noneGoes' : 'none')}>{isEmpty && t('noneAtAllHelp')}</Notice>}
        <MoreRows list={list} />
      </div>
    </>
  )
}
