import { Button } from '@mantine/core'
import { IconArrowRight, IconPlayerPlay } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router'
import type { Job } from '../../api/types'
import { useMay } from '../../api/use-may'
import { isFinal } from '../../shared/execution-state'
import { useLatest } from '../../shared/overview'
import { useStart } from '../../shared/use-start'

/** Runs the job, or leads to the execution that goes on already. */
export function RunOrOpen({ job }: { job: Job }) {
  const { t } = useTranslation('home')
  const navigate = useNavigate()
  const [busy, start] = useStart()
  const latest = useLatest(job.job_name, job.latest_execution)
  const operates = useMay()('OPERATOR', job.project)
  if (latest && !isFinal(latest.status)) {
    return (
      <Button component={Link} to={`/executions/${latest.execution_id}`} rightSection={<IconArrowRight size={14} />}>
        {t('welcome.open')}
      </Button>
    )
  }
  if (!operates) return null
  return (
    <Button disabled={job.version === null} loading={busy} leftSection={<IconPlayerPlay size={14} />} onClick={() => void start(job.job_name, undefined, (id) => void navigate(`/executions/${id}`))}>
      {t('welcome.run')}
    </Button>
  )
}
