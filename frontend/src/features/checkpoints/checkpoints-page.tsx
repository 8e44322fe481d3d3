import { Button, SegmentedControl } from '@mantine/core'
import { IconEraser, IconFileUpload } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usePagedList, withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Checkpoint, CheckpointUsage } from '../../api/types'
import { useMay } from '../../api/use-may'
import { checkpointColumns, largestOf } from '../../shared/checkpoints/checkpoint-columns'
import '../../shared/checkpoints/i18n'
import { DataTable } from '../../shared/data-table'
import { Failure } from '../../shared/failure'
import { FilterMenu } from '../../shared/filter-menu'
import { MoreRows } from '../../shared/more-rows'
import { Notice } from '../../shared/notice'
import { useRefetchOnChange } from '../../shared/overview'
import { SearchField } from '../../shared/search-field'
import { useStateWord } from '../../shared/state-word'
import { useUrlState } from '../../shared/url-state'
import { TickedBar, tickColumn } from './ticked-bar'
import { UsageByJob } from './usage-by-job'
import { UsageStrip } from './usage-strip'
import { useTicked } from './use-ticked'

const CheckpointDetail = lazy(async () => ({ default: (await import('../../shared/checkpoints/checkpoint-detail')).CheckpointDetail }))
const ArrivalDialog = lazy(() => import('../../shared/checkpoints/travel/arrival-dialog'))
const CompareDialog = lazy(() => import('../../shared/checkpoints/compare-dialog'))
const CleanupDialog = lazy(() => import('./administration/cleanup-dialog'))
const DeletionDialog = lazy(() => import('../../shared/checkpoints/deletion/deletion-dialog'))
const RetentionPanel = lazy(() => import('./administration/retention-panel'))
const OrphansPanel = lazy(() => import('./administration/orphans-panel'))

const VIEWS = ['', 'jobs', 'rule', 'orphans'] as const
const STATES = ['PENDING', 'COMPLETED', 'FAILED', 'EXPIRED'] as const

/** The older and the newer of two ticked ones of one job. */
function pairOf(rows: readonly Checkpoint[], ids: ReadonlySet<number>): [number, number] | undefined {
  const [newer, older, more] = ids.size === 2 ? rows.filter((row) => ids.has(row.id)) : []
  return newer && older && !more && newer.job_name === older.job_name ? [older.id, newer.id] : undefined
}

/** Whole ones of the same job as that, the oldest first. */
function besides(rows: readonly Checkpoint[], id: number): Checkpoint[] {
  const job = rows.find((row) => row.id === id)?.job_name
  return rows.filter((row) => row.job_name === job && row.status === 'COMPLETED').reverse()
}

/** The installation's checkpoints: what they take, history, one in detail, what the rule does, orphans, deletion and the clean-up. */
export default function CheckpointsPage() {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const [q, setQ] = useUrlState('q')
  const [job, setJob] = useUrlState('job')
  const [state, setState] = useUrlState('state')
  const [kept, setKept] = useUrlState('kept')
  const [given, setChosen] = useUrlState('checkpoint')
  const chosen = /^\d+$/.test(given) ? given : ''
  const [view, setView] = useUrlState('view')
  const [does, setDoes] = useUrlState('does')
  const [kind, setKind] = useUrlState('kind')
  const [deleting, setDeleting] = useState<number[] | null>(null)
  const [cleaning, setCleaning] = useState(false)
  const [compared, setCompared] = useState<[number, number] | null>(null)
  const [arriving, setArriving] = useState(false)
  const usage = useQuery({ queryKey: ['checkpoints', 'usage'], queryFn: () => request<CheckpointUsage>('GET', '/api/checkpoints/usage'), refetchInterval: 15_000 })
  const list = usePagedList<Checkpoint>(['checkpoints'], withQuery('/api/checkpoints', { q, job, status: state, kept }), { refetchInterval: 15_000 })
  useRefetchOnChange(list.readAnew)
  const { rows } = list
  const listed = rows?.find((one) => String(one.id) === chosen)
  const linked = useQuery({ queryKey: ['checkpoints', 'linked', chosen], queryFn: () => request<Checkpoint>('GET', `/api/checkpoints/${chosen}`), enabled: chosen !== '' && rows !== undefined && !listed, retry: false })
  const selected = listed ?? (chosen ? linked.data : undefined)
  const beside = selected !== undefined
  const described = useMemo(() => checkpointColumns(t, { largest: largestOf(rows ?? []), withJob: true, beside }), [t, rows, beside])
  const said = useStateWord()
  const operates = useMay()('OPERATOR')
  const ticked = useTicked({ q, job, kept })
  const pair = pairOf(rows ?? [], ticked.ids)
  const columns = operates ? [tickColumn(t, ticked, rows ?? []), ...described] : described
  const all = { value: '', label: t('shared:all') }
  const isHistory = !VIEWS.slice(1).some((one) => one === view)
  const viewed = (next: string) => {
    setKind('')
    setDoes('')
    setView(next)
  }
  const client = useQueryClient()
  const changed = () => void client.invalidateQueries({ queryKey: ['checkpoints'] })
  const arrived = (made: Checkpoint) => {
    setArriving(false)
    historyOf(made.job_name)
    setChosen(String(made.id))
    changed()
  }
  const historyOf = (name: string) => {
    setView('')
    setJob(name)
  }
  const filtered = Boolean(q || job || state || kept)
  return (
    <main className="pw-with-drawer pw-full">
      <div className="pw-page pw-grow">
        <div className="pw-head">
          <h1>{t('title')}</h1>
          <SegmentedControl size="xs" aria-label={t('view.label')} value={isHistory ? '' : view} onChange={viewed} data={VIEWS.map((value) => ({ value, label: t(`view.${value || 'history'}`) }))} />
          {rows && isHistory && <span className="pw-12 pw-3">{t(list.hasMore ? 'shownFirst' : 'shown', { count: rows.length })}</span>}
          <span className="pw-grow" />
          {operates && (
            <Button leftSection={<IconFileUpload size={14} />} onClick={() => setArriving(true)}>
              {t('travel.import')}
            </Button>
          )}
          {operates && (
            <Button leftSection={<IconEraser size={14} />} onClick={() => setCleaning(true)}>
              {t('cleanup.act')}
            </Button>
          )}
        </div>
        {usage.data && usage.data.count + usage.data.failed > 0 && <UsageStrip usage={usage.data} />}
        {usage.error && <Failure error={usage.error} what={t('usage.title')} retry={() => void usage.refetch()} />}
        {view === 'jobs' && (
          <div className="pw-table-wrap pw-grow">
            <UsageByJob usage={usage.data} onJob={historyOf} />
          </div>
        )}
        <Suspense fallback={<div className="pw-grow" />}>
          {view === 'rule' && <RetentionPanel asked={{ job, action: does, kind }} onAsk={(asked) => { setJob(asked.job ?? ''); setDoes(asked.action ?? ''); setKind(asked.kind ?? '') }} />}
          {view === 'orphans' && <OrphansPanel kind={kind} onKind={setKind} />}
        </Suspense>
        {isHistory && (
          <>
            <div className="pw-filters">
              <SearchField value={q} onChange={setQ} label={t('search')} />
              <FilterMenu label={t('filter.state')} value={state} onChange={setState} options={[all, ...STATES.map((value) => ({ value, label: said(value) }))]} />
              <FilterMenu label={t('filter.kept')} value={kept} onChange={setKept} options={[all, { value: 'true', label: t('filter.person') }]} />
              {job && <FilterMenu label={t('filter.job')} value={job} onChange={setJob} options={[all, { value: job, label: job }]} />}
              {operates && <TickedBar ticked={ticked} hasMore={list.hasMore} onCompare={pair && (() => setCompared(pair))} onDelete={() => setDeleting([...ticked.ids])} />}
            </div>
            {list.error && <Failure error={list.error} what={t('title')} retry={list.refetch} />}
            {chosen && !listed && linked.error && <Failure error={linked.error} what={t('linked')} retry={() => void linked.refetch()} />}
            <div className="pw-table-wrap pw-grow" data-stale={list.stale || undefined}>
              {rows?.length !== 0 && !(list.error && !rows) && <DataTable label={t('title')} columns={columns} rows={rows} keyOf={(one) => one.id} loading={list.loading} selected={selected?.id ?? null} onRow={(one) => setChosen(String(one.id) === chosen ? '' : String(one.id))} />}
              {rows?.length === 0 && <Notice page title={t(filtered ? 'noneFound' : 'none')}>{t(filtered ? 'noneFoundHelp' : 'noneHelp')}</Notice>}
              <MoreRows list={list} />
            </div>
          </>
        )}
      </div>
      {selected && isHistory && (
        <Suspense>
          <CheckpointDetail checkpoint={selected} onClose={() => setChosen('')} onChange={changed} />
        </Suspense>
      )}
      {arriving && (
        <Suspense>
          <ArrivalDialog job={job} onClose={() => setArriving(false)} onDone={arrived} />
        </Suspense>
      )}
      <Suspense>
        {compared && <CompareDialog first={compared[0]} second={compared[1]} points={besides(rows ?? [], compared[0])} onChoose={(first, second) => setCompared([first, second])} onClose={() => setCompared(null)} />}
        {cleaning && <CleanupDialog onClose={() => setCleaning(false)} onDone={changed} />}
        {deleting && <DeletionDialog ids={deleting} onClose={() => setDeleting(null)} onDone={() => { ticked.clear(); changed() }} />}
      </Suspense>
    </main>
  )
}
