import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { readStart, startJob, type StartFrom } from '../api/start-job'
import { answer } from './answers'
import { useStartAsked } from './start-asked'
import { parametersOf } from './start-parameters'
import { startRefusal } from './start-refusal'
import { useAct } from './use-act'

type After = (executionId: string) => void

/** Asks for the values of the job's parameters, if it has any; a restore has those of its checkpoint. */
async function askedFirst(jobName: string, from: StartFrom | undefined, after: After | undefined): Promise<boolean> {
  if (typeof from === 'number') return false
  const job = await readStart(jobName)
  const parameters = parametersOf(job)
  if (parameters.length === 0) return false
  useStartAsked.setState({ asked: { jobName, title: job.title || jobName, parameters, from, after } })
  return true
}

/** Starts a job and says so, after asking for its parameters; a refusal comes with the way out that the server offers. */
export function useStart(): [busy: boolean, start: (jobName: string, from?: StartFrom, after?: After) => Promise<void>] {
  const { t } = useTranslation('shared')
  const navigate = useNavigate()
  const [reading, setReading] = useState(false)
  const [busy, act] = useAct()
  const begin = async (jobName: string, from?: StartFrom, after?: After): Promise<void> => {
    await act('start', {
      run: () => startJob(jobName, from),
      done: (started) => t('started', { id: started.execution_id.slice(0, 8) }),
      link: (started) => ({ words: t('open'), to: `/executions/${started.execution_id}` }),
      after: (started) => after?.(started.execution_id),
      remedy: (error) => {
        const { beginning, checkpoint, executionId } = startRefusal(error)
        if (checkpoint) return { words: t('openCheckpoint'), run: () => void navigate(checkpoint) }
        if (beginning) return { words: t('startBeginning'), run: () => void begin(jobName, 'beginning', after) }
        return executionId ? { words: t('openExecution'), run: () => void navigate(`/executions/${executionId}`) } : undefined
      },
    })
  }
  const start = async (jobName: string, from?: StartFrom, after?: After): Promise<void> => {
    setReading(true)
    try {
      if (await askedFirst(jobName, from, after)) return
    } catch (error) {
      answer(false, (error as Error).message)
      return
    } finally {
      setReading(false)
    }
    await begin(jobName, from, after)
  }
  return [reading || busy !== null, start]
}
