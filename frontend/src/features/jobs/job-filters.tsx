import { useTranslation } from 'react-i18next'
import { FilterMenu } from '../../shared/filter-menu'
import { SearchField } from '../../shared/search-field'
import { useStateWord } from '../../shared/state-word'
import { useUrlState } from '../../shared/url-state'

const STATES = ['RUNNING', 'SCHEDULED', 'PAUSED', 'FAILED', 'COMPLETED', 'CANCELLED'] as const
const TYPES = ['STREAMING', 'BATCH_ROLLER', 'SQL_TASK'] as const

export interface JobFilter {
  q: string
  status: string
  job_type: string
  scheduled: string
  order: string
}

/** What the address says about which jobs to show, and how to change it. */
export function useJobFilter(): { filter: JobFilter; set: Record<keyof JobFilter, (value: string) => void>; active: boolean } {
  const [q, setQ] = useUrlState('q')
  const [status, setStatus] = useUrlState('state')
  const [type, setType] = useUrlState('type')
  const [scheduled, setScheduled] = useUrlState('scheduled')
  const [order, setOrder] = useUrlState('order')
  return {
    filter: { q, status, job_type: type, scheduled, order },
    set: { q: setQ, status: setStatus, job_type: setType, scheduled: setScheduled, order: setOrder },
    active: Boolean(q || status || type || scheduled),
  }
}

export function JobFilters({ filter, set }: Pick<ReturnType<typeof useJobFilter>, 'filter' | 'set'>) {
  const { t } = useTranslation(['jobs', 'shared'])
  const said = useStateWord()
  const all = { value: '', label: t('shared:all') }
  return (
    <>
      <SearchField value={filter.q} onChange={set.q} label={t('searchJobs')} />
      <FilterMenu label={t('column.state')} value={filter.status} onChange={set.status} options={[all, ...STATES.map((value) => ({ value, label: said(value) })), { value: 'REGISTERED', label: t('neverRun') }]} />
      <FilterMenu label={t('column.type')} value={filter.job_type} onChange={set.job_type} options={[all, ...TYPES.map((value) => ({ value, label: t(`shared:jobType.${value}`) }))]} />
      <FilterMenu label={t('column.next')} value={filter.scheduled} onChange={set.scheduled} options={[all, { value: 'true', label: t('scheduled') }]} />
    </>
  )
}
