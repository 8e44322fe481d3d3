import { Button, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { said } from '../../../api/sentences/said'
import type { Checkpoint } from '../../../api/types'
import { Failure } from '../../failure'
import { wholeTime } from '../../times'
import { useAct } from '../../use-act'
import './i18n'
import { JobChoice } from './job-choice'
import { copyCheckpoint, savepointsOf } from './travel-requests'

interface Props {
  /** The job that is to go on, and its project. */
  job: string
  project: string
  onDone: (copy: Checkpoint) => void
}

/** A savepoint of another job of the project. It is copied first, under an identity of its own; `onDone` gets the copy, which is then looked at. */
export default function OtherSavepoint({ job, project, onDone }: Props) {
  const { t } = useTranslation('travel')
  const [other, setOther] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const [busy, act] = useAct()
  const there = useQuery({ queryKey: ['checkpoints', 'savepoints', other], queryFn: () => savepointsOf(other), enabled: other !== '' })
  const data = (there.data ?? []).map((one) => ({ value: String(one.id), disabled: !one.restorable, label: [t('import.one', { number: one.checkpoint_id, time: wholeTime(one.create_time) }), one.label, said(one.restorable_reason)].filter(Boolean).join(' · ') }))
  const copy = () => act('copy', { run: () => copyCheckpoint(job, Number(chosen)), done: (made) => t('import.done', { number: made.checkpoint_id, job }), after: onDone })
  return (
    <div className="pw-form-column">
      <p className="pw-help">{t('other.help')}</p>
      <JobChoice label={t('import.job')} value={other} without={job} project={project} onChange={(name) => { setOther(name); setChosen(null) }} />
      {other && <Select label={t('other.savepoint')} data={data} value={chosen} onChange={setChosen} nothingFoundMessage={t('other.none')} searchable disabled={there.isPending} />}
      {there.error && <Failure error={there.error} what={t('other.savepoint')} retry={() => void there.refetch()} />}
      <div className="pw-form-acts">
        <Button variant="filled" disabled={!chosen} loading={busy !== null} onClick={() => void copy()}>
          {t('other.copy')}
        </Button>
      </div>
    </div>
  )
}
