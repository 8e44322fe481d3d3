import { ActionIcon, Button, Menu, Modal, TextInput } from '@mantine/core'
import { IconDeviceFloppy, IconDots, IconDownload, IconPin, IconPinnedOff, IconTag, IconTrash } from '@tabler/icons-react'
import { lazy, Suspense, useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../../api/types'
import { useAct } from '../../use-act'
import { whileWritten } from '../../while-written'
import { changeCheckpoint } from '../checkpoint-requests'
import './i18n'

const DeletionDialog = lazy(() => import('../deletion/deletion-dialog'))

interface Props {
  checkpoint: Checkpoint
  onClose: () => void
  onChange: () => void
}

function LabelDialog({ checkpoint, onClose, onChange }: Props) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const [label, setLabel] = useState(checkpoint.label)
  const [busy, act] = useAct()
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (await act('label', { run: () => changeCheckpoint(checkpoint.id, { label: label.trim() }), done: () => t('label.done', { number: checkpoint.checkpoint_id }), after: onChange })) onClose()
  }
  return (
    <Modal opened onClose={onClose} {...whileWritten(label !== checkpoint.label)} title={t('label.title', { number: checkpoint.checkpoint_id })} size={380}>
      <form className="pw-form-column" onSubmit={(event) => void save(event)}>
        <TextInput data-autofocus label={t('label.field')} value={label} maxLength={200} onChange={(event) => setLabel(event.currentTarget.value)} />
        <div className="pw-form-acts">
          <Button onClick={onClose}>{t('shared:cancel')}</Button>
          <Button type="submit" variant="filled" loading={busy !== null}>
            {t('label.save')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

/** What one can do with a checkpoint beside starting from it. */
export function CheckpointActs({ checkpoint, onChange }: Omit<Props, 'onClose'>) {
  const { t } = useTranslation(['checkpoint', 'checkpoints'])
  const [dialog, setDialog] = useState<'label' | 'delete' | null>(null)
  const [busy, act] = useAct()
  const number = checkpoint.checkpoint_id
  const flip = () => act('pin', { run: () => changeCheckpoint(checkpoint.id, { pinned: !checkpoint.pinned }), done: () => t(checkpoint.pinned ? 'unpinned' : 'nowPinned', { number }), after: onChange })
  const keep = () => act('savepoint', { run: () => changeCheckpoint(checkpoint.id, { is_savepoint: true }), done: () => t('checkpoints:kept', { number }), after: onChange })
  const complete = checkpoint.status === 'COMPLETED'
  const gone = checkpoint.status === 'EXPIRED'
  const close = () => setDialog(null)
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('more')} loading={busy !== null}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={!complete} leftSection={checkpoint.pinned ? <IconPinnedOff size={14} /> : <IconPin size={14} />} onClick={() => void flip()}>
            {t(checkpoint.pinned ? 'unpin' : 'pin')}
          </Menu.Item>
          <Menu.Item disabled={gone} leftSection={<IconTag size={14} />} onClick={() => setDialog('label')}>
            {t('checkpoints:label.act')}
          </Menu.Item>
          {!checkpoint.is_savepoint && (
            <Menu.Item disabled={!checkpoint.restorable} leftSection={<IconDeviceFloppy size={14} />} onClick={() => void keep()}>
              {t('keep')}
            </Menu.Item>
          )}
          {checkpoint.restorable && (
            <Menu.Item component="a" href={`/api/checkpoints/${checkpoint.id}/archive`} download leftSection={<IconDownload size={14} />}>
              {t('export')}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item color="var(--state-failed)" disabled={!complete} leftSection={<IconTrash size={14} />} onClick={() => setDialog('delete')}>
            {t('checkpoints:delete.act')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'label' && <LabelDialog checkpoint={checkpoint} onClose={close} onChange={onChange} />}
      {dialog === 'delete' && <Suspense><DeletionDialog ids={[checkpoint.id]} onClose={close} onDone={onChange} /></Suspense>}
    </>
  )
}
