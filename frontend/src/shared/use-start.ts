import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { ApiError } from '../api/request'
import { startJob, type StartFrom } from '../api/start-job'
import { useAct } from './use-act'

interface Refusal {
  execution_id?: string
  offers?: string[]
}

/** Starts a job and says so; a refusal comes with the way out that the server offers. */
export function useStart(): [busy: boolean, start: (jobName: string, from?: StartFrom, after?: (executionId: string) => void) => Promise<void>] {
  const { t } = useTranslation('shared')
  const navigate = useNavigate()
  const [busy, act] = useAct()
  const start = async (jobName: string, from?: StartFrom, after?: (executionId: string) => void): Promise<void> => {
    await act('start', {
      run: () => startJob(jobName, from),
      done: (started) => t('started', { id: started.execution_id.slice(0, 8) }),
      link: (started) => ({ words: t('open'), to: `/executions/${started.execution_id}` }),
      after: (started) => after?.(started.execution_id),
      remedy: (error) => {
        const refusal = error instanceof ApiError ? ({ ...error.body, ...(error.body.detail as object | undefined) } as Refusal) : {}
        if (refusal.offers?.includes('beginning')) return { words: t('startBeginning'), run: () => void start(jobName, 'beginning', after) }
        const other = refusal.execution_id
        return other ? { words: t('openExecution'), run: () => void navigate(`/executions/${other}`) } : undefined
      },
    })
  }
  return [busy !== null, start]
}
