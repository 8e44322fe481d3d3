import { ActionIcon, Button, Menu, Tooltip } from '@mantine/core'
import { IconCalendar, IconDots, IconDownload, IconFileCode, IconPencil, IconPlayerPlay, IconPlayerStop, IconPower, IconRestore, IconSettings, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router'
import type { Job } from '../../api/types'
import { useMay } from '../../api/use-may'
import { isFinal } from '../../shared/execution-state'
import { useLatest } from '../../shared/overview'
import { useAct } from '../../shared/use-act'
import { useExamples } from '../../shared/use-examples'
import { useStart } from '../../shared/use-start'
import { exportAddress, resumeExecution, stopExecution, switchJob } from './job-requests'

export type JobDialog = 'schedule' | 'config' | 'reset' | 'delete'

interface Props {
  job: Job
  refetch: () => void
  onDialog: (dialog: JobDialog) => void
}

/** Run or stop, whichever the job is up to, and the rest in a menu. */
export function JobActions({ job, refetch, onDialog }: Props) {
  const { t } = useTranslation(['jobs', 'shared'])
  const navigate = useNavigate()
  const [busy, act] = useAct()
  const may = useMay()
  const operates = may('OPERATOR', job.project)
  const edits = may('EDITOR', job.project)
  const isExample = useExamples().some((one) => one.job_name === job.job_name)
  const latest = useLatest(job.job_name, job.latest_execution)
  const running = latest !== null && !isFinal(latest.status) && latest.status !== 'PAUSED'
  const why = job.version === null ? t('publishFirst') : !job.enabled ? t('switchedOff') : ''
  const [starting, start] = useStart()
  const stop = () => latest && act('stop', { run: () => stopExecution(latest.execution_id), done: () => t('stopping', { job: job.job_name }), after: refetch })
  const flip = () => act('flip', { run: () => switchJob(job.job_name, !job.enabled), done: () => t(job.enabled ? 'nowOff' : 'nowOn', { job: job.job_name }), after: refetch })
  const paused = latest?.status === 'PAUSED' ? latest : null
  return (
    <span className="pw-acts">
      {!operates ? null : paused ? (
        <Button loading={busy === 'resume'} leftSection={<IconPlayerPlay size={14} />} onClick={() => void act('resume', { run: () => resumeExecution(paused.execution_id), done: () => t('resumed', { job: job.job_name }), after: refetch })}>
          {t('resume')}
        </Button>
      ) : running ? (
        <Button loading={busy === 'stop'} leftSection={<IconPlayerStop size={14} />} onClick={() => void stop()}>
          {t('stop')}
        </Button>
      ) : (
        <Tooltip label={why} disabled={!why}>
          <Button loading={starting} data-disabled={why ? true : undefined} aria-disabled={why ? true : undefined} leftSection={<IconPlayerPlay size={14} />} onClick={() => !why && void start(job.job_name, undefined, refetch)}>
            {t('run')}
          </Button>
        </Tooltip>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={t('moreOf', { job: job.job_name })} variant="subtle" color="gray">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={14} />} onClick={() => void navigate(`/jobs/${encodeURIComponent(job.job_name)}`)}>
            {t(edits ? 'edit' : 'look')}
          </Menu.Item>
          <Menu.Item leftSection={<IconPlayerPlay size={14} />} onClick={() => void navigate(`/executions?job=${encodeURIComponent(job.job_name)}`)}>
            {t('history')}
          </Menu.Item>
          {operates && (
            <>
              <Menu.Item leftSection={<IconCalendar size={14} />} onClick={() => onDialog('schedule')}>
                {t('schedule.act')}
              </Menu.Item>
              <Menu.Item leftSection={<IconSettings size={14} />} onClick={() => onDialog('config')}>
                {t('config.act')}
              </Menu.Item>
              <Menu.Item leftSection={<IconPower size={14} />} onClick={() => void flip()}>
                {t(job.enabled ? 'switchOff' : 'switchOn')}
              </Menu.Item>
            </>
          )}
          {edits && isExample && (
            <Menu.Item leftSection={<IconRestore size={14} />} onClick={() => onDialog('reset')}>
              {t('reset.act')}
            </Menu.Item>
          )}
          <Menu.Divider />
          {(['json', 'yaml'] as const).map((format) => (
            <Menu.Item key={format} component="a" href={exportAddress(job.job_name, format)} download leftSection={<IconDownload size={14} />}>
              {t('export', { format: format.toUpperCase() })}
            </Menu.Item>
          ))}
          <Menu.Item component={Link} to={`/jobs/${encodeURIComponent(job.job_name)}?dock=pyspark`} leftSection={<IconFileCode size={14} />}>
            {t('script')}
          </Menu.Item>
          {edits && (
            <>
              <Menu.Divider />
              <Menu.Item color="var(--state-failed)" leftSection={<IconTrash size={14} />} onClick={() => onDialog('delete')}>
                {t('delete.act')}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </span>
  )
}
