import { Button } from '@mantine/core'
import { IconDownload, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/request'
import { said } from '../../api/sentences/said'
import { startJob } from '../../api/start-job'
import type { Job } from '../../api/types'
import { answer } from '../../shared/answers'
import { useMay } from '../../api/use-may'
import { isFinal } from '../../shared/execution-state'
import { useAct } from '../../shared/use-act'
import { exportAddress, stopExecution } from './job-requests'

function download(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}

/** The first problem says more than the refusal as a whole. */
const wordsOf = (error: Error): string => (error instanceof ApiError ? said(error.problems[0]?.message ?? error.message) : error.message)

/** Acts on every chosen job; each that fails says so by name, the others go on. */
export function BulkBar({ jobs, onDone, onClear }: { jobs: readonly Job[]; onDone: () => void; onClear: () => void }) {
  const { t } = useTranslation('jobs')
  const [busy, act] = useAct()
  const may = useMay()
  const mine = jobs.filter((job) => may('OPERATOR', job.project))
  const running = mine.filter((job) => job.latest_execution && !isFinal(job.latest_execution.status) && job.latest_execution.status !== 'PAUSED')
  const idle = mine.filter((job) => job.version !== null && job.enabled && !running.includes(job))
  const each = (name: string, ofThem: readonly Job[], run: (job: Job) => Promise<unknown>, done: string) =>
    act(name, {
      run: async () => {
        const results = await Promise.allSettled(ofThem.map(run))
        results.forEach((result, index) => {
          if (result.status === 'rejected') answer(false, `${ofThem[index]?.job_name}: ${wordsOf(result.reason as Error)}`)
        })
        return results.filter((result) => result.status === 'fulfilled').length
      },
      done: (count) => t(done, { count }),
      after: onDone,
    })
  return (
    <>
      <b className="pw-12">{t('bulk.chosen', { count: jobs.length })}</b>
      {mine.length > 0 && (
        <>
          <Button disabled={idle.length === 0} loading={busy === 'start'} leftSection={<IconPlayerPlay size={14} />} onClick={() => void each('start', idle, (job) => startJob(job.job_name), 'bulk.started')}>
            {t('bulk.start', { count: idle.length })}
          </Button>
          <Button disabled={running.length === 0} loading={busy === 'stop'} leftSection={<IconPlayerStop size={14} />} onClick={() => void each('stop', running, (job) => stopExecution(job.latest_execution?.execution_id ?? ''), 'bulk.stopped')}>
            {t('bulk.stop', { count: running.length })}
          </Button>
        </>
      )}
      <Button leftSection={<IconDownload size={14} />} onClick={() => jobs.forEach((job) => download(exportAddress(job.job_name, 'json')))}>
        {t('bulk.export', { count: jobs.length })}
      </Button>
      <button type="button" className="pw-link" onClick={onClear}>
        {t('bulk.clear')}
      </button>
    </>
  )
}
