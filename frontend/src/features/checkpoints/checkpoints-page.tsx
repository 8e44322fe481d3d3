import { Button } from '@mantine/core'
import { IconEraser } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usePagedList, withQuery } from '../../api/pages'
import type { Checkpoint } from '../../api/types'
import { useMay } from '../../api/use-may'
import { checkpointColumns, isPinned, isSavepoint, largestOf } from '../../shared/checkpoints/checkpoint-columns'
import { CheckpointDetail } from '../../shared/checkpoints/checkpoint-detail'
import '../../shared/checkpoints/i18n'
import { SizeFigure } from '../../shared/checkpoints/size-figure'
import { DataTable } from '../../shared/data-table'
import { Failure } from '../../shared/failure'
import { Figure } from '../../shared/figure'
import { FilterMenu } from '../../shared/filter-menu'
import { MoreRows } from '../../shared/more-rows'
import { Notice } from '../../shared/notice'
import { count } from '../../shared/numbers'
import { useRefetchOnChange } from '../../shared/overview'
import { SearchField } from '../../shared/search-field'
import { useStateWord } from '../../shared/state-word'
import { useUrlState } from '../../shared/url-state'
import { CleanupDialog } from './cleanup-dialog'

const STATES = ['PENDING', 'COMPLETED', 'FAILED', 'EXPIRED'] as const

/** Sums over the rows that are shown, and said to be so. */
function Strip({ rows }: { rows: readonly Checkpoint[] }) {
  const { t } = useTranslation('checkpoints')
  const kept = rows.filter((row) => row.status === 'COMPLETED')
  const sum = (of: (row: Checkpoint) => number) => kept.reduce((total, row) => total + of(row), 0)
  const failed = rows.filter((row) => row.status === 'FAILED').length
  const pinned = rows.filter(isPinned).length
  const savepoints = rows.filter(isSavepoint).length
  const shown = t('strip.ofShown')
  return (
    <div className="pw-strip">
      <Figure label={t('strip.logical')} note={shown}>
        <SizeFigure value={sum((row) => row.storage_size_bytes)} />
      </Figure>
      <Figure label={t('strip.exclusive')} note={shown}>
        <SizeFigure value={sum((row) => row.exclusive_bytes)} />
      </Figure>
      <Figure label={t('strip.kept')} note={`${t('strip.savepoints', { count: savepoints })}, ${t('strip.pinned', { count: pinned })}`}>
        {count(rows.filter((row) => isPinned(row) || isSavepoint(row)).length)}
      </Figure>
      <Figure label={t('strip.failed')} {...(failed > 0 ? { glyph: 'failed', tone: 'bad' as const } : {})} note={shown}>
        {count(failed)}
      </Figure>
      <Figure label={t('strip.pending')} note={shown}>
        {count(rows.filter((row) => row.status === 'PENDING').length)}
      </Figure>
    </div>
  )
}

/** The installation's checkpoints: history, one in detail, and the clean-up with its dry run. */
export default function CheckpointsPage() {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const [q, setQ] = useUrlState('q')
  const [job, setJob] = useUrlState('job')
  const [state, setState] = useUrlState('state')
  const [kept, setKept] = useUrlState('kept')
  const [chosen, setChosen] = useUrlState('checkpoint')
  const [cleaning, setCleaning] = useState(false)
  const list = usePagedList<Checkpoint>(['checkpoints'], withQuery('/api/checkpoints', { q, job, status: state, kept }), { refetchInterval: 15_000 })
  useRefetchOnChange(list.refetch)
  const { rows } = list
  const selected = rows?.find((one) => String(one.id) === chosen)
  const beside = selected !== undefined
  const columns = useMemo(() => checkpointColumns(t, { largest: largestOf(rows ?? []), withJob: true, beside }), [t, rows, beside])
  const said = useStateWord()
  const operates = useMay()('OPERATOR')
  const all = { value: '', label: t('shared:all') }
  const filtered = Boolean(q || job || state || kept)
  return (
    <main className="pw-with-drawer pw-full">
      <div className="pw-page pw-grow">
        <div className="pw-head">
          <h1>{t('title')}</h1>
          {rows && <span className="pw-12 pw-3">{t(list.hasMore ? 'shownFirst' : 'shown', { count: rows.length })}</span>}
          <span className="pw-grow" />
          {operates && (
            <Button leftSection={<IconEraser size={14} />} onClick={() => setCleaning(true)}>
              {t('cleanup.act')}
            </Button>
          )}
        </div>
        {rows && rows.length > 0 && <Strip rows={rows} />}
        <div className="pw-filters">
          <SearchField value={q} onChange={setQ} label={t('search')} />
          <FilterMenu label={t('filter.state')} value={state} onChange={setState} options={[all, ...STATES.map((value) => ({ value, label: said(value) }))]} />
          <FilterMenu label={t('filter.kept')} value={kept} onChange={setKept} options={[all, { value: 'true', label: t('filter.person') }]} />
          {job && <FilterMenu label={t('filter.job')} value={job} onChange={setJob} options={[all, { value: job, label: job }]} />}
        </div>
        {list.error && <Failure error={list.error} what={t('title')} retry={list.refetch} />}
        <div className="pw-table-wrap pw-grow" data-stale={list.stale || undefined}>
          {rows?.length !== 0 && !(list.error && !rows) && <DataTable label={t('title')} columns={columns} rows={rows} keyOf={(one) => one.id} loading={list.loading} selected={selected?.id ?? null} onRow={(one) => setChosen(String(one.id) === chosen ? '' : String(one.id))} />}
          {rows?.length === 0 && <Notice page title={t(filtered ? 'noneFound' : 'none')}>{t(filtered ? 'noneFoundHelp' : 'noneHelp')}</Notice>}
          <MoreRows list={list} />
        </div>
      </div>
      {selected && <CheckpointDetail checkpoint={selected} onClose={() => setChosen('')} onChange={list.refetch} />}
      {cleaning && <CleanupDialog onClose={() => setCleaning(false)} onDone={list.refetch} />}
    </main>
  )
}
