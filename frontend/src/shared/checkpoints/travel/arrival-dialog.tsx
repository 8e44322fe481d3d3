import { Button, Modal, Progress, SegmentedControl, Select } from '@mantine/core'
import { IconFileUpload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../../api/types'
import { answer } from '../../answers'
import { percent } from '../../numbers'
import { wholeTime } from '../../times'
import { useAct } from '../../use-act'
import './i18n'
import { JobChoice } from './job-choice'
import './travel.css'
import { completeOf, copyCheckpoint } from './travel-requests'
import { useUpload } from './use-upload'

interface Arrived {
  job: string
  onDone: (checkpoint: Checkpoint) => void
}

/** An archive, by choice or by drop; how much of it is sent, and what is wrong with it. */
function FromArchive({ job, onDone }: Arrived) {
  const { t } = useTranslation('travel')
  const input = useRef<HTMLInputElement>(null)
  const [file, setFile] = useState<File | null>(null)
  const [over, setOver] = useState(false)
  const { share, error, start, stop } = useUpload(onDone)
  return (
    <>
      <div className="pw-archive-drop" data-over={over || undefined} onDragOver={(event) => { event.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={(event) => { event.preventDefault(); setOver(false); setFile(event.dataTransfer.files[0] ?? null) }}>
        <IconFileUpload size={20} stroke={1.5} aria-hidden />
        <p>{file ? file.name : t('import.drop')}</p>
        <Button onClick={() => input.current?.click()}>{t('import.choose')}</Button>
        <input ref={input} type="file" hidden accept=".tar,application/x-tar" aria-label={t('import.choose')} onChange={(event) => setFile(event.target.files?.[0] ?? null)} />
      </div>
      <p className="pw-help">{t('import.trust')}</p>
      {share !== null && <Progress value={share * 100} aria-label={t('import.sending', { share: percent(share, 1) })} />}
      <div className="pw-form-acts">
        <span className="pw-12 pw-2 pw-grow pw-wrap" role="status">
          {share === null ? <span className="pw-bad">{error}</span> : t(share < 1 ? 'import.sending' : 'import.checking', { share: percent(share, 1) })}
        </span>
        {share === null ? (
          <Button variant="filled" disabled={!job || !file} onClick={() => file && start(job, file)}>
            {t('import.send')}
          </Button>
        ) : (
          <Button onClick={stop}>{t('import.stop')}</Button>
        )}
      </div>
    </>
  )
}

/** One of the complete checkpoints of a job that is chosen first. */
function FromJob({ job, onDone }: Arrived) {
  const { t } = useTranslation('travel')
  const [other, setOther] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const [busy, act] = useAct()
  const there = useQuery({ queryKey: ['checkpoints', 'complete', other], queryFn: () => completeOf(other), enabled: other !== '' })
  const data = (there.data ?? []).map((one) => ({ value: String(one.id), label: [t('import.one', { number: one.checkpoint_id, time: wholeTime(one.create_time) }), one.label].filter(Boolean).join(' · ') }))
  const copy = () => act('copy', { run: () => copyCheckpoint(job, Number(chosen)), done: (made) => t('import.done', { number: made.checkpoint_id, job }), after: onDone })
  return (
    <>
      <JobChoice label={t('import.job')} value={other} without={job} onChange={(name) => { setOther(name); setChosen(null) }} />
      {other && <Select label={t('import.checkpoint')} data={data} value={chosen} onChange={setChosen} nothingFoundMessage={t('import.none')} disabled={there.isPending} />}
      <div className="pw-form-acts">
        <Button variant="filled" disabled={!job || !chosen} loading={busy !== null} onClick={() => void copy()}>
          {t('import.copy')}
        </Button>
      </div>
    </>
  )
}

/** A checkpoint comes into a job from an archive or from another job. `onDone` gets the savepoint that it became. */
export default function ArrivalDialog({ job: given = '', onClose, onDone }: { job?: string; onClose: () => void; onDone: (checkpoint: Checkpoint) => void }) {
  const { t } = useTranslation('travel')
  const [job, setJob] = useState(given)
  const [way, setWay] = useState('archive')
  const arrived = (checkpoint: Checkpoint) => {
    if (way === 'archive') answer(true, t('import.done', { number: checkpoint.checkpoint_id, job }))
    onDone(checkpoint)
  }
  return (
    <Modal opened onClose={onClose} title={t('import.title')} size={520}>
      <div className="pw-form-column">
        <JobChoice label={t('import.into')} value={job} onChange={setJob} />
        <SegmentedControl size="xs" fullWidth aria-label={t('import.from')} value={way} onChange={setWay} data={[{ value: 'archive', label: t('import.archive') }, { value: 'job', label: t('import.other') }]} />
        {way === 'archive' ? <FromArchive job={job} onDone={arrived} /> : <FromJob job={job} onDone={arrived} />}
      </div>
    </Modal>
  )
}
