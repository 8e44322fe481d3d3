import { Button } from '@mantine/core'
import { IconPlus, IconUpload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { request } from '../../api/request'
import type { Job, Page } from '../../api/types'
import { useMay } from '../../api/use-may'
import { RunOrOpen } from './run-or-open'

const EXAMPLES = 6

function Example({ job }: { job: Job }) {
  const { t } = useTranslation('shared')
  return (
    <li>
      <div className="pw-grow">
        <Link to={`/jobs/${encodeURIComponent(job.job_name)}`} className="pw-home-name">
          {job.title || job.job_name}
        </Link>
        <p className="pw-12 pw-2 pw-lines-2">{job.description || t(`jobType.${job.job_type}`)}</p>
      </div>
      <span className="pw-chip">{t(`jobType.${job.job_type}`)}</span>
      <RunOrOpen job={job} />
    </li>
  )
}

/** Nothing has run yet: run what is there, or make something. */
export function Welcome({ jobs }: { jobs: number }) {
  const { t } = useTranslation('home')
  const edits = useMay()('EDITOR')
  const list = useQuery({ queryKey: ['welcome'], queryFn: () => request<Page<Job>>('GET', `/api/jobs?page_size=${EXAMPLES}`), enabled: jobs > 0 })
  return (
    <section className="pw-welcome">
      <h2>{t(jobs > 0 ? 'welcome.title' : edits ? 'welcome.titleEmpty' : 'welcome.titleNothing')}</h2>
      <p>{t(jobs > 0 ? 'welcome.help' : edits ? 'welcome.helpEmpty' : 'welcome.helpNothing')}</p>
      {list.data && (
        <ul>
          {list.data.results.map((job) => (
            <Example key={job.job_name} job={job} />
          ))}
        </ul>
      )}
      {edits && (
        <div className="pw-notice-acts">
          <Button component={Link} to="/jobs?new=1" leftSection={<IconPlus size={14} />}>
            {t('welcome.blank')}
          </Button>
          <Button component={Link} to="/jobs?import=1" leftSection={<IconUpload size={14} />}>
            {t('welcome.import')}
          </Button>
        </div>
      )}
    </section>
  )
}
