import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { Job } from '../../api/types'
import { ExecutionBadge } from '../../shared/execution-badge'
import { useLatest } from '../../shared/overview'
import { NoCheckpoint } from '../../shared/no-checkpoint'
import { RelativeTime } from '../../shared/relative-time'
import { wordsInZone } from '../../shared/words-in-zone'

/** State of the latest execution, and how old it is. */
export function JobState({ job }: { job: Job }) {
  const { t } = useTranslation('jobs')
  const latest = useLatest(job.job_name, job.latest_execution)
  if (!latest) return <span className="pw-12 pw-3">{job.version === null ? t('draftOnly') : t('neverRun')}</span>
  return (
    <Link to={`/executions/${latest.execution_id}`}>
      <ExecutionBadge execution={latest} />
    </Link>
  )
}

/** Title over name, with what deserves a word: unpublished changes, no checkpoint for long, switched off. */
export function JobIdentity({ job }: { job: Job }) {
  const { t } = useTranslation('jobs')
  return (
    <>
      <div className="pw-line">
        <span className="pw-cut pw-strong" title={job.title || job.job_name}>
          {job.title || job.job_name}
        </span>
        {job.draft?.dirty && job.version !== null && (
          <Tooltip label={t('draftBy', { name: job.draft.updated_by })}>
            <span className="pw-chip">{t('draft')}</span>
          </Tooltip>
        )}
        {job.no_checkpoint_since && (
          <span className="pw-chip pw-chip-warn">
            <NoCheckpoint since={job.no_checkpoint_since} />
          </span>
        )}
        {!job.enabled && <span className="pw-chip pw-chip-warn">{t('off')}</span>}
      </div>
      {job.title && job.title !== job.job_name && (
        <div className="pw-mono-11 pw-3 pw-cut" title={job.job_name}>
          {job.job_name}
        </div>
      )}
    </>
  )
}

export function NextStartCell({ job }: { job: Job }) {
  const { t } = useTranslation(['jobs', 'shared'])
  if (!job.schedule?.next_trigger_time) return <span className="pw-3">–</span>
  return (
    <Tooltip label={job.schedule.words ? wordsInZone(t, job.schedule) : t('scheduled')}>
      <span>
        <RelativeTime time={job.schedule.next_trigger_time} />
      </span>
    </Tooltip>
  )
}
