import { useTranslation } from 'react-i18next'
import type { CheckpointUsage } from '../../api/types'
import { SizeFigure } from '../../shared/checkpoints/size-figure'
import { DataTable, type Column } from '../../shared/data-table'
import { Notice } from '../../shared/notice'
import { count, NO_VALUE } from '../../shared/numbers'
import { RelativeTime } from '../../shared/relative-time'

type JobUsage = CheckpointUsage['jobs'][number]

/** Which jobs' checkpoints take room, those that take most first; a row leads to its checkpoints. */
export function UsageByJob({ usage, onJob }: { usage: CheckpointUsage | undefined; onJob: (name: string) => void }) {
  const { t } = useTranslation('checkpoints')
  const most = Math.max(1, ...(usage?.jobs ?? []).map((one) => one.bytes_exclusive))
  const columns: Column<JobUsage>[] = [
    { key: 'job', title: t('column.job'), cell: (one) => <span title={one.job_name}><span className="pw-mono">{one.job_name}</span>{one.deleted && <span className="pw-chip"> {t('usage.deleted')}</span>}</span> },
    { key: 'project', title: t('usage.project'), width: 140, cell: (one) => one.project },
    { key: 'owner', title: t('usage.owner'), width: 130, cell: (one) => one.owner ?? NO_VALUE },
    { key: 'count', title: t('usage.count'), width: 110, numeric: true, cell: (one) => count(one.count) },
    {
      key: 'exclusive',
      title: t('column.exclusive'),
      width: 130,
      numeric: true,
      cell: (one) => (
        <>
          <SizeFigure value={one.bytes_exclusive} />
          <span className="pw-bar"><i style={{ width: `${(one.bytes_exclusive / most) * 100}%` }} /></span>
        </>
      ),
    },
    { key: 'logical', title: t('column.logical'), width: 110, numeric: true, cell: (one) => <SizeFigure value={one.bytes_logical} /> },
    { key: 'oldest', title: t('usage.oldest'), width: 130, numeric: true, cell: (one) => <RelativeTime time={one.oldest} /> },
    { key: 'newest', title: t('usage.newest'), width: 130, numeric: true, cell: (one) => <RelativeTime time={one.newest} /> },
  ]
  if (usage?.jobs.length === 0) return <Notice page title={t('none')}>{t('noneHelp')}</Notice>
  return (
    <>
      <DataTable label={t('usage.title')} columns={columns} rows={usage?.jobs} keyOf={(one) => `${one.project}/${one.job_name}/${one.deleted}`} loading={!usage} onRow={(one) => onJob(one.job_name)} />
      {usage && usage.more_jobs > 0 && <p className="pw-12 pw-3">{t('usage.more', { count: usage.more_jobs })}</p>}
    </>
  )
}
