import { Button } from '@mantine/core'
import { IconPlus, IconUpload } from '@tabler/icons-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { usePagedList, withQuery } from '../../api/pages'
import type { Job } from '../../api/types'
import { useMay } from '../../api/use-may'
import { DataTable } from '../../shared/data-table'
import { Failure } from '../../shared/failure'
import { MoreRows } from '../../shared/more-rows'
import { NoProject } from '../../shared/no-project'
import { Notice } from '../../shared/notice'
import { useRefetchOnChange } from '../../shared/overview'
import { useUrlState } from '../../shared/url-state'
import { useIsWithoutProject } from '../../shared/use-is-without-project'
import { BulkBar } from './bulk-bar'
import './i18n'
import type { JobDialog } from './job-actions'
import { jobColumns } from './job-columns'
import { JobFilters, useJobFilter } from './job-filters'
import './jobs.css'
import { NewJobDialog } from './new-job-dialog'

const ImportDialog = lazy(async () => ({ default: (await import('./import-dialog')).ImportDialog }))

const JobDialogs = lazy(() => import('./job-dialogs'))

/** Every job one may see: state, the last ten executions, rows per second, next start, and the acts. */
export default function JobsPage() {
  const { t } = useTranslation(['jobs', 'shared'])
  const navigate = useNavigate()
  const { filter, set, active } = useJobFilter()
  const [creating, setCreating] = useUrlState('new')
  const [importing, setImporting] = useUrlState('import')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [dialog, setDialog] = useState<{ job: Job; kind: JobDialog } | null>(null)
  const list = usePagedList<Job>(['jobs'], withQuery('/api/jobs', { ...filter }), { refetchInterval: 10_000 })
  useRefetchOnChange(list.readAnew)
  const rows = list.rows
  const picked = useMemo(() => (rows ?? []).filter((job) => chosen.has(job.job_name)), [rows, chosen])

  const choose = (name: string, on: boolean) => setChosen((old) => new Set(on ? [...old, name] : [...old].filter((one) => one !== name)))
  const chooseAll = (on: boolean) => setChosen(new Set(on ? rows?.map((job) => job.job_name) : []))
  const columns = jobColumns({ t, chosen, choose, chooseAll, shown: rows?.length ?? 0, refetch: list.refetch, onDialog: (job, kind) => setDialog({ job, kind }) })
  const edits = useMay()('EDITOR')
  const alone = useIsWithoutProject()
  const acts = (plain: boolean) => edits && (
    <>
      <Button leftSection={<IconUpload size={14} />} onClick={() => setImporting('1')}>
        {t('import.act')}
      </Button>
      <Button variant={plain ? 'default' : 'filled'} leftSection={<IconPlus size={14} />} onClick={() => setCreating('1')}>
        {t('new.act')}
      </Button>
    </>
  )
  return (
    <main className="pw-page">
      <div className="pw-head">
        <h1>{t('title')}</h1>
        {rows && <span className="pw-12 pw-3">{t(list.hasMore ? 'shownFirst' : 'shown', { count: rows.length })}</span>}
        <span className="pw-grow" />
        {acts(rows?.length === 0 && !active)}
      </div>
      <div className="pw-filters">{picked.length > 0 ? <BulkBar jobs={picked} onDone={() => { setChosen(new Set()); list.refetch() }} onClear={() => setChosen(new Set())} /> : <JobFilters filter={filter} set={set} />}</div>
      {list.error && <Failure error={list.error} what={t('title')} retry={list.refetch} />}
      <div className="pw-table-wrap pw-grow" data-stale={list.stale || undefined}>
        {(rows === undefined || rows.length > 0) && !(list.error && !rows) && (
          <DataTable label={t('title')} columns={columns} rows={rows} keyOf={(job) => job.job_name} loading={list.loading} twoLines order={filter.order} onOrder={set.order} onRow={(job) => void navigate(`/jobs/${encodeURIComponent(job.job_name)}`)} />
        )}
        {rows?.length === 0 && (alone ? <NoProject /> : active ? <Notice page title={t('noneFound')}>{t('noneFoundHelp')}</Notice> : <Notice page title={t('none')} acts={acts(false)}>{edits && t('noneHelp')}</Notice>)}
        <MoreRows list={list} />
      </div>
      {creating && edits && <NewJobDialog onClose={() => setCreating('')} />}
      {importing && edits && (
        <Suspense>
          <ImportDialog onClose={() => setImporting('')} onDone={list.refetch} />
        </Suspense>
      )}
      <Suspense fallback={null}>{dialog && <JobDialogs {...dialog} onClose={() => setDialog(null)} onDone={list.refetch} />}</Suspense>
    </main>
  )
}
