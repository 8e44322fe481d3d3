import { Checkbox } from '@mantine/core'
import type { TFunction } from 'i18next'
import type { Job } from '../../api/types'
import type { Column } from '../../shared/data-table'
import { LiveRate } from '../../shared/live-rate'
import { count } from '../../shared/numbers'
import { JobActions, type JobDialog } from './job-actions'
import { JobIdentity, JobState, NextStartCell } from './job-cells'
import { RecentDots } from './recent-dots'

interface Given {
  t: TFunction<['jobs', 'shared']>
  chosen: ReadonlySet<string>
  choose: (name: string, on: boolean) => void
  chooseAll: (on: boolean) => void
  shown: number
  refetch: () => void
  onDialog: (job: Job, dialog: JobDialog) => void
}

/** State first, identity second, then facts, numbers, actions. */
export function jobColumns({ t, chosen, choose, chooseAll, shown, refetch, onDialog }: Given): Column<Job>[] {
  return [
    {
      key: 'chosen',
      title: <Checkbox size="xs" aria-label={t('chooseAll')} checked={shown > 0 && chosen.size >= shown} indeterminate={chosen.size > 0 && chosen.size < shown} onChange={(event) => chooseAll(event.currentTarget.checked)} />,
      width: 42,
      cell: (job) => <Checkbox size="xs" aria-label={t('choose', { job: job.job_name })} checked={chosen.has(job.job_name)} onChange={(event) => choose(job.job_name, event.currentTarget.checked)} />,
    },
    { key: 'state', title: t('column.state'), width: 136, cell: (job) => <JobState job={job} /> },
    { key: 'job', title: t('column.job'), order: 'job_name', cell: (job) => <JobIdentity job={job} /> },
    { key: 'type', title: t('column.type'), width: 96, cell: (job) => <span className="pw-12 pw-2">{t(`shared:jobType.${job.job_type}`)}</span> },
    { key: 'recent', title: t('column.recent'), width: 146, cell: (job) => <RecentDots recent={job.recent} /> },
    { key: 'rate', title: t('column.rate'), width: 72, numeric: true, cell: (job) => <LiveRate jobName={job.job_name} latest={job.latest_execution} listed={job.in_per_second} /> },
    { key: 'backlog', title: t('column.backlog'), width: 74, numeric: true, cell: (job) => count(job.backlog) },
    { key: 'next', title: t('column.next'), width: 92, cell: (job) => <NextStartCell job={job} /> },
    { key: 'owner', title: t('column.owner'), width: 74, cell: (job) => <span className="pw-12 pw-2">{job.created_by || '–'}</span> },
    { key: 'acts', title: '', width: 140, numeric: true, cell: (job) => <JobActions job={job} refetch={refetch} onDialog={(dialog) => onDialog(job, dialog)} /> },
  ]
}
