import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { usePagedList, withQuery } from '../../api/pages'
import { said } from '../../api/sentences/said'
import type { Execution } from '../../api/types'
import { DataTable, type Column } from '../../shared/data-table'
import { ExecutionBadge } from '../../shared/execution-badge'
import { ranFor } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { FilterMenu } from '../../shared/filter-menu'
import { MoreRows } from '../../shared/more-rows'
import { Notice } from '../../shared/notice'
import { count, duration } from '../../shared/numbers'
import { useHeard, useRefetchOnChange } from '../../shared/overview'
import { RelativeTime } from '../../shared/relative-time'
import { SearchField } from '../../shared/search-field'
import { useStateWord } from '../../shared/state-word'
import { useNow } from '../../shared/use-now'
import { useUrlState } from '../../shared/url-state'
import './executions.css'
import './i18n'

const STATES = ['SCHEDULED', 'INITIALIZING', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'] as const
const TRIGGERS = ['CRON', 'MANUAL', 'API', 'RETRY', 'RESTORE'] as const

const State = ({ row }: { row: Execution }) => <ExecutionBadge execution={useHeard(row)} />

function Ran({ row }: { row: Execution }) {
  const now = useNow()
  const heard = useHeard(row)
  return <>{duration(ranFor(heard, now))}</>
}

function Identity({ row }: { row: Execution }) {
  return (
    <>
      <div className="pw-cut pw-12">
        {row.job_title || row.job_name} <span className="pw-3">v{row.version}</span>
      </div>
      {row.status === 'FAILED' && row.error_message ? (
        <div className="pw-mono-11 pw-bad pw-lines-2" title={said(row.error_message)}>
          {said(row.error_message.split('\n')[0] ?? '')}
        </div>
      ) : (
        row.job_title !== row.job_name && <div className="pw-mono-11 pw-3 pw-cut">{row.job_name}</div>
      )}
    </>
  )
}

/** Every execution, newest first; filters are in the address. */
export default function ExecutionsPage() {
  const { t } = useTranslation(['executions', 'shared'])
  const navigate = useNavigate()
  const [q, setQ] = useUrlState('q')
  const [job, setJob] = useUrlState('job')
  const [state, setState] = useUrlState('state')
  const [trigger, setTrigger] = useUrlState('trigger')
  const list = usePagedList<Execution>(['executions'], withQuery('/api/executions', { q, job_name: job, status: state, triggered_by: trigger }), { refetchInterval: 10_000 })
  useRefetchOnChange(list.readAnew)
  const columns = useMemo<Column<Execution>[]>(
    () => [
      { key: 'state', title: t('column.state'), width: 136, cell: (row) => <State row={row} /> },
      { key: 'job', title: t('column.job'), cell: (row) => <Identity row={row} /> },
      { key: 'id', title: t('one'), width: 82, cell: (row) => <span className="pw-mono">{row.execution_id.slice(0, 8)}</span> },
      { key: 'trigger', title: t('column.trigger'), width: 116, cell: (row) => <span className="pw-12 pw-2">{[t(`shared:trigger.${row.triggered_by}`), row.created_by].filter(Boolean).join(', ')}</span> },
      { key: 'created', title: t('column.created'), width: 92, numeric: true, cell: (row) => <RelativeTime time={row.create_time} /> },
      { key: 'ran', title: t('column.ran'), width: 124, numeric: true, cell: (row) => <Ran row={row} /> },
      { key: 'in', title: t('strip.in'), width: 84, numeric: true, cell: (row) => count(row.processed_records) },
      { key: 'out', title: t('strip.out'), width: 84, numeric: true, cell: (row) => count(row.written_records) },
      { key: 'rejected', title: t('strip.rejected'), width: 76, numeric: true, cell: (row) => <span className={row.failed_records > 0 ? 'pw-bad' : undefined}>{count(row.failed_records)}</span> },
    ],
    [t],
  )
  const said = useStateWord()
  const all = { value: '', label: t('shared:all') }
  const { rows } = list
  const filtered = Boolean(q || job || state || trigger)
  return (
    <main className="pw-page">
      <div className="pw-head">
        <h1>{t('title')}</h1>
        {rows && <span className="pw-12 pw-3">{t(list.hasMore ? 'shownFirst' : 'shown', { count: rows.length })}</span>}
      </div>
      <div className="pw-filters">
        <SearchField value={q} onChange={setQ} label={t('search')} />
        <FilterMenu label={t('column.state')} value={state} onChange={setState} options={[all, ...STATES.map((value) => ({ value, label: said(value) }))]} />
        <FilterMenu label={t('column.trigger')} value={trigger} onChange={setTrigger} options={[all, ...TRIGGERS.map((value) => ({ value, label: t(`shared:trigger.${value}`) }))]} />
        {job && <FilterMenu label={t('column.job')} value={job} onChange={setJob} options={[all, { value: job, label: job }]} />}
      </div>
      {list.error && <Failure error={list.error} what={t('title')} retry={list.refetch} />}
      <div className="pw-table-wrap pw-grow" data-stale={list.stale || undefined}>
        {rows?.length !== 0 && !(list.error && !rows) && <DataTable label={t('title')} columns={columns} rows={rows} keyOf={(row) => row.execution_id} loading={list.loading} twoLines onRow={(row) => void navigate(`/executions/${row.execution_id}`)} />}
        {rows?.length === 0 && <Notice page title={t(filtered ? 'noneFound' : 'none')}>{t(filtered ? 'noneFoundHelp' : 'noneHelp')}</Notice>}
        <MoreRows list={list} />
      </div>
    </main>
  )
}
