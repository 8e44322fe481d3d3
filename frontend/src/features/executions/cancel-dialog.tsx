import { Button, Modal } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Execution } from '../../api/types'
import { useAct } from '../../shared/use-act'
import { askExecution } from './execution-requests'

/** Says what is lost before it is: a cancelled execution cannot go on; a forced one does not wait for its batch. */
export function CancelDialog({ execution, force, onClose }: { execution: Execution; force: boolean; onClose: () => void }) {
  const { t } = useTranslation(['executions', 'shared'])
  const [busy, act] = useAct()
  const confirm = async () => {
    const asked = await act('cancel', { run: () => askExecution(execution.execution_id, 'cancel', force ? { force: true } : {}), done: () => t(force ? 'cancelling.forced' : 'cancelling.done') })
    if (asked) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t(force ? 'cancelling.forceTitle' : 'cancelling.title')} size={420}>
      <p className="pw-help">{t(force ? 'cancelling.forceHelp' : 'cancelling.help')}</p>
      <div className="pw-form-acts">
        <Button data-autofocus onClick={onClose}>
          {t('cancelling.keep')}
        </Button>
        <Button className="pw-danger" loading={busy !== null} onClick={() => void confirm()}>
          {t(force ? 'act.force' : 'act.cancel')}
        </Button>
      </div>
    </Modal>
  )
}
