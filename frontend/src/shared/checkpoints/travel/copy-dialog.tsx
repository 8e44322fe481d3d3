import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../../api/types'
import { useAct } from '../../use-act'
import './i18n'
import { JobChoice } from './job-choice'
import { copyCheckpoint } from './travel-requests'

/** One checkpoint goes into another job. `onDone` gets the savepoint that it became there. */
export default function CopyDialog({ checkpoint, onClose, onDone }: { checkpoint: Checkpoint; onClose: () => void; onDone: (copy: Checkpoint) => void }) {
  const { t } = useTranslation('travel')
  const [job, setJob] = useState('')
  const [busy, act] = useAct()
  const copy = () => act('copy', { run: () => copyCheckpoint(job, checkpoint.id), done: (made) => t('import.done', { number: made.checkpoint_id, job }), after: onDone })
  return (
    <Modal opened onClose={onClose} title={t('copy.title', { number: checkpoint.checkpoint_id })} size={460}>
      <div className="pw-form-column">
        <p className="pw-help">{t('copy.help')}</p>
        <JobChoice label={t('import.into')} value={job} without={checkpoint.job_name} onChange={setJob} />
      </div>
      <div className="pw-form-acts">
        <Button variant="filled" disabled={!job} loading={busy !== null} onClick={() => void copy()}>
          {t('copy.confirm')}
        </Button>
      </div>
    </Modal>
  )
}
