import { Tooltip } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconCloudOff, IconEye, IconLoader2 } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useEditor } from './editor-store'

/** Saved · Saving… · Conflict · Offline, in words; to a reader who may not change the job, that. */
export function SaveChip() {
  const { t } = useTranslation('canvas')
  const save = useEditor((state) => state.save)
  const revision = useEditor((state) => state.revision)
  const readOnly = useEditor((state) => state.readOnly)
  if (readOnly) {
    return (
      <Tooltip label={t('readOnlyHelp')}>
        <span className="pw-save-chip" tabIndex={0}>
          <IconEye size={12} />
          {t('readOnly')}
        </span>
      </Tooltip>
    )
  }
  const looks = {
    saved: { icon: <IconCheck size={12} stroke={2.5} className="pw-good" />, words: t('save.saved', { revision }) },
    dirty: { icon: <IconLoader2 size={12} />, words: t('save.saving') },
    saving: { icon: <IconLoader2 size={12} className="pw-spin" />, words: t('save.saving') },
    offline: { icon: <IconCloudOff size={12} />, words: t('save.offline') },
    failed: { icon: <IconAlertTriangle size={12} />, words: save.kind === 'failed' && save.refused ? t('save.refused', { why: save.refused }) : t('save.failed') },
    conflict: { icon: <IconAlertTriangle size={12} />, words: save.kind === 'conflict' ? t('save.conflict', { by: save.by, revision: save.revision }) : '' },
  } as const
  const look = looks[save.kind]
  const warns = save.kind === 'failed' || save.kind === 'offline' || save.kind === 'conflict'
  return (
    <span className={`pw-save-chip${warns ? ' pw-save-warn' : ''}`} title={look.words} role="status">
      {look.icon}
      <span className="pw-cut">{look.words}</span>
    </span>
  )
}
