import { Button, Modal } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useEffect, useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { ApiError } from '../api/request'
import { said } from '../api/sentences/said'
import { startJob, type StartFrom } from '../api/start-job'
import { answer } from './answers'
import { ParameterField } from './parameter-field'
import { useStartAsked, type StartAsked } from './start-asked'
import { valuesSent, type ParameterValue } from './start-parameters'
import { startRefusal } from './start-refusal'
import { whileWritten } from './while-written'

const close = () => useStartAsked.setState({ asked: null })

/** The server's words for each parameter: "/parameters/day" belongs to day. */
function problemsByName(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const nameOf = (pointer: string) => /^\/parameters\/([^/]+)/.exec(pointer)?.[1] ?? ''
  const found = error.problems.map(({ pointer, message }): [string, string] => [nameOf(pointer), said(message)])
  return Object.fromEntries(found.filter(([name]) => name))
}

function Refused({ error, start }: { error: Error; start: (from: StartFrom) => void }) {
  const { t } = useTranslation('shared')
  const { beginning, checkpoint, executionId } = startRefusal(error)
  return (
    <div role="alert">
      <p className="pw-bad pw-12 pw-wrap">{error.message}</p>
      {checkpoint && (
        <Link className="pw-link" to={checkpoint} onClick={close}>
          {t('openCheckpoint')}
        </Link>
      )}
      {beginning && (
        <button type="button" className="pw-link" onClick={() => start('beginning')}>
          {t('startBeginning')}
        </button>
      )}
      {!beginning && executionId && (
        <Link className="pw-link" to={`/executions/${executionId}`} onClick={close}>
          {t('openExecution')}
        </Link>
      )}
    </div>
  )
}

function StartForm({ asked, onWritten }: { asked: StartAsked; onWritten: (isWritten: boolean) => void }) {
  const { t } = useTranslation('shared')
  const [begun] = useState<Record<string, ParameterValue | undefined>>(() => Object.fromEntries(asked.parameters.map(({ name, value }) => [name, value])))
  const [typed, setTyped] = useState(begun)
  const [failure, setFailure] = useState<Error | null>(null)
  const [busy, setBusy] = useState(false)
  const problems = problemsByName(failure)
  useEffect(() => onWritten(typed !== begun), [typed, begun, onWritten])
  const start = async (from: StartFrom | undefined) => {
    setBusy(true)
    setFailure(null)
    try {
      const { execution_id } = await startJob(asked.jobName, from, valuesSent(asked.parameters, typed))
      answer(true, t('started', { id: execution_id.slice(0, 8) }), { words: t('open'), to: `/executions/${execution_id}` })
      close()
      asked.after?.(execution_id)
    } catch (error) {
      setFailure(error as Error)
      setBusy(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void start(asked.from)
  }
  return (
    <form className="pw-form-column" onSubmit={submit}>
      {asked.parameters.map((parameter) => (
        <ParameterField key={parameter.name} parameter={parameter} value={typed[parameter.name]} error={problems[parameter.name]} onChange={(value) => setTyped((old) => ({ ...old, [parameter.name]: value }))} />
      ))}
      {failure && <Refused error={failure} start={(from) => void start(from)} />}
      <div className="pw-form-acts">
        <Button onClick={close}>{t('cancel')}</Button>
        <Button type="submit" variant="filled" loading={busy} leftSection={<IconPlayerPlay size={14} />}>
          {t(asked.from === 'beginning' ? 'startBeginning' : 'parameters.start')}
        </Button>
      </div>
    </form>
  )
}

/** The values of a job's parameters, asked for before it starts; what the server says of one stands at its field. */
export default function StartDialog({ asked }: { asked: StartAsked }) {
  const { t } = useTranslation('shared')
  const [isWritten, setWritten] = useState(false)
  return (
    <Modal opened onClose={close} {...whileWritten(isWritten)} title={t('parameters.title', { job: asked.title })} size={440}>
      <StartForm asked={asked} onWritten={setWritten} />
    </Modal>
  )
}
