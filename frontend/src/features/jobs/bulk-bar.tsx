import { Button } from '@mantine/core'
import { IconDownload, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/request'
import { said } from '../../api/sentences/said'
import { startJob } from '../../api/start-job'
import type { Job } from '../../api/types'
import { answer } from '../../shared/answers'
import { useMay } from '../../api/use-may'
import { isFinal } from '../../shared/execution-state'
import { exportAddress, exportJobs, stopExecution } from './job-requests'

/** So long a browser may take to begin with a file. */
const KEPT_MS = 60_000

function download(address: string, name = ''): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** All of them in one archive: of many files at once a browser leaves out some. */
async function downloadAll(jobs: readonly Job[]): Promise<void> {
  const address = URL.createObjectURL(await exportJobs(jobs.map((job) => job.job_name)))
  download(address, 'jobs.zip')
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS)
}

/** The first problem says more than the refusal as a whole. */
const wordsOf = (error: Error): string => (error instanceof ApiError ? said(error.problems[0]?.message ?? error.message) : error.message)

/** Why it was refused → the jobs of which it was, in the order of both. */
function refusals(jobs: readonly Job[], results: readonly PromiseSettledResult<unknown>[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  results.forEach((result, index) => {
    if (result.status === 'fulfilled') return
    const why = wordsOf(result.reason as Error)
    found.set(why, [...(found.get(why) ?? []), jobs[index]?.job_name ?? ''])
  })
  return found
}

type Bulk = 'start' | 'stop'

const isPaused = (job: Job) => job.latest_execution?.status === 'PAUSED'
const runs = (job: Job) => job.latest_execution !== null && !isFinal(job.latest_execution.status)

type Each = (act: Bulk, ofThem: readonly Job[], run: (job: Job) => Promise<unknown>) => Promise<void>

/** Does the same to each of many jobs, and says what came of it: in one answer for those that refuse. */
function useBulk(onDone: () => void): [busy: Bulk | null, each: Each] {
  const { t } = useTranslation('jobs')
  const [busy, setBusy] = useState<Bulk | null>(null)
  const each: Each = async (act, ofThem, run) => {
    setBusy(act)
    const results = await Promise.allSettled(ofThem.map(run))
    setBusy(null)
    const refused = refusals(ofThem, results)
    const count = results.filter((result) => result.status === 'fulfilled').length
    if (count > 0) answer(true, t(`bulk.done.${act}`, { count }))
    const named = [...refused].map(([why, names]) => t('bulk.why', { names: names.join(', '), why }))
    if (named.length > 0) answer(false, [t(`bulk.refused.${act}`, { count: results.length - count }), ...named].join('\n'))
    onDone()
  }
  return [busy, each]
}

function ExportButton({ jobs }: { jobs: readonly Job[] }) {
  const { t } = useTranslation('jobs')
  const [busy, setBusy] = useState(false)
  const exportThem = async () => {
    const [first] = jobs
    if (first && jobs.length === 1) return download(exportAddress(first.job_name, 'json'))
    setBusy(true)
    try {
      await downloadAll(jobs)
      answer(true, t('bulk.done.export', { count: jobs.length }))
    } catch (error) {
      answer(false, wordsOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button loading={busy} leftSection={<IconDownload size={14} />} onClick={() => void exportThem()}>
      {t('bulk.export', { count: jobs.length })}
    </Button>
  )
}

/** Acts on every chosen job; those that refuse are named in one answer, the others go on. */
export function BulkBar({ jobs, onDone, onClear }: { jobs: readonly Job[]; onDone: () => void; onClear: () => void }) {
  const { t } = useTranslation('jobs')
  const [busy, each] = useBulk(onDone)
  const may = useMay()
  const mine = jobs.filter((job) => may('OPERATOR', job.project))
  // One that is paused is neither: it is resumed or cancelled where it is looked at.
  const running = mine.filter((job) => runs(job) && !isPaused(job))
  const idle = mine.filter((job) => job.version !== null && job.enabled && !runs(job))
  const start = () => void each('start', idle, (job) => startJob(job.job_name))
  const stop = () => void each('stop', running, (job) => stopExecution(job.latest_execution?.execution_id ?? ''))
  return (
    <>
      <b className="pw-12">{t('bulk.chosen', { count: jobs.length })}</b>
      {mine.length > 0 && (
        <>
          <Button disabled={idle.length === 0} loading={busy === 'start'} leftSection={<IconPlayerPlay size={14} />} onClick={start}>
            {t('bulk.start', { count: idle.length })}
          </Button>
          <Button disabled={running.length === 0} loading={busy === 'stop'} leftSection={<IconPlayerStop size={14} />} onClick={stop}>
            {t('bulk.stop', { count: running.length })}
          </Button>
        </>
      )}
      <ExportButton jobs={jobs} />
      <button type="button" className="pw-link" onClick={onClear}>
        {t('bulk.clear')}
      </button>
    </>
  )
}
