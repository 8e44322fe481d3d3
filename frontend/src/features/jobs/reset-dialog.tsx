import { Button, Modal } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Job } from '../../api/types'
import { useAct } from '../../shared/use-act'
import { resetExample } from './job-requests'

/** An example as it came: said before it is done, because results go. */
export function ResetDialog({ job, onClose, onDone }: { job: Job; onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation(['jobs', 'shared'])
  const [busy, act] = useAct()
  const reset = async () => {
    if (await act('reset', { run: () => resetExample(job.job_name), done: () => t('reset.done', { job: job.title || job.job_name }), after: onDone })) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('reset.title', { job: job.title || job.job_name })} size={420}>
      <p className="pw-help">{t('reset.help')}</p>
      <div className="pw-form-acts">
        <Button data-autofocus onClick={onClose}>
          {t('shared:cancel')}
        </Button>
        <Button className="pw-danger" loading={busy !== null} onClick={() => void reset()}>
          {t('reset.confirm')}
        </Button>
      </div>
    </Modal>
  )
}
