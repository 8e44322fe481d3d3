import { IconAlertTriangle, IconCheck, IconCloudOff, IconLoader2 } from '@tabler/icons-react'
import { Menu } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { reloadDraft } from './draft-requests'
import { useEditor } from './editor-store'

/** Saved · Saving… · Conflict · Offline, in words. */
export function SaveChip({ saveNow }: { saveNow: () => Promise<void> }) {
  const { t } = useTranslation('canvas')
  const save = useEditor((state) => state.save)
  const revision = useEditor((state) => state.revision)
  if (save.kind === 'conflict') {
    const overwrite = () => {
      useEditor.setState({ revision: save.revision })
      void saveNow()
    }
    return (
      <Menu>
        <Menu.Target>
          <button type="button" className="pw-save-chip pw-save-warn">
            <IconAlertTriangle size={12} />
            {t('save.conflict', { by: save.by, revision: save.revision })}
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void reloadDraft()}>{t('save.takeTheirs')}</Menu.Item>
          <Menu.Item color="red" onClick={overwrite}>
            {t('save.overwrite')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    )
  }
  const looks = {
    saved: { icon: <IconCheck size={12} stroke={2.5} className="pw-good" />, words: t('save.saved', { revision }) },
    dirty: { icon: <IconLoader2 size={12} />, words: t('save.saving') },
    saving: { icon: <IconLoader2 size={12} className="pw-spin" />, words: t('save.saving') },
    offline: { icon: <IconCloudOff size={12} />, words: t('save.offline') },
    failed: { icon: <IconAlertTriangle size={12} />, words: t('save.failed') },
  } as const
  const look = looks[save.kind]
  return (
    <span className={`pw-save-chip${save.kind === 'failed' || save.kind === 'offline' ? ' pw-save-warn' : ''}`} title={save.kind === 'failed' ? save.message : undefined} role="status">
      {look.icon}
      {look.words}
    </span>
  )
}
