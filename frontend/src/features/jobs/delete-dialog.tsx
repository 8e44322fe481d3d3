import { Button, Modal } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Job } from '../../api/types'
import { useAct } from '../../shared/use-act'
import { deleteJob } from './job-requests'

/** Says what goes and what stays before it goes. */
export function DeleteDialog({ job, onClose, onDone }: { job: Job; onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation(['jobs', 'shared'])
  const [busy, act] = useAct()
  const remove = async () => {
    const gone = await act('delete', { run: () => deleteJob(job.job_name), done: () => t('delete.done', { job: job.job_name }), after: onDone })
    if (gone) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('delete.title')} size={420}>
      <p className="pw-wrap">
        <b>{job.title || job.job_name}</b> <span className="pw-mono-11 pw-3">{job.job_name}</span>
      </p>
      <p className="pw-help">{t('delete.help')}</p>
      <div className="pw-form-acts">
        <Button data-autofocus onClick={onClose}>
          {t('shared:cancel')}
        </Button>
        <Button className="pw-danger" loading={busy !== null} onClick={() => void remove()}>
          {t('delete.confirm')}
        </Button>
      </div>
    </Modal>
  )
}
