import { Button, Modal, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useAct } from '../../shared/use-act'
import '../../shared/checkpoints/one/i18n'
import { askExecution } from './execution-requests'

/** A savepoint is asked for, by a name if one likes. */
export default function SavepointDialog({ executionId, onClose }: { executionId: string; onClose: () => void }) {
  const { t } = useTranslation(['executions', 'checkpoint', 'shared'])
  const [label, setLabel] = useState('')
  const [busy, act] = useAct()
  const ask = async (event: FormEvent) => {
    event.preventDefault()
    if (await act('savepoint', { run: () => askExecution(executionId, 'savepoint', { label: label.trim() }), done: () => t('act.savepointDone') })) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('act.savepoint')} size={380}>
      <form className="pw-form-column" onSubmit={(event) => void ask(event)}>
        <p className="pw-help">{t('checkpoint:savepoint.help')}</p>
        <TextInput data-autofocus label={t('checkpoint:savepoint.label')} value={label} maxLength={200} onChange={(event) => setLabel(event.currentTarget.value)} />
        <div className="pw-form-acts">
          <Button onClick={onClose}>{t('shared:cancel')}</Button>
          <Button type="submit" variant="filled" loading={busy !== null}>
            {t('checkpoint:savepoint.take')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
