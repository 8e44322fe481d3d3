import { Tooltip } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconCloudOff, IconEye, IconLoader2 } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useEditor } from './editor-store'
import { saveWords } from './save-words'
import { useNameWaits } from './use-parameter-rows'

const ICONS = {
  saved: <IconCheck size={12} stroke={2.5} className="pw-good" />,
  dirty: <IconLoader2 size={12} />,
  saving: <IconLoader2 size={12} className="pw-spin" />,
  offline: <IconCloudOff size={12} />,
  failed: <IconAlertTriangle size={12} />,
  conflict: <IconAlertTriangle size={12} />,
}

/** Saved · Saving… · Conflict · Offline, in words; to a reader who may not change the job, that. */
export function SaveChip() {
  const { t } = useTranslation('canvas')
  const save = useEditor((state) => state.save)
  const revision = useEditor((state) => state.revision)
  const nameWaits = useNameWaits()
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
  const words = saveWords(t, save, revision, nameWaits)
  const warns = nameWaits || save.kind === 'failed' || save.kind === 'offline' || save.kind === 'conflict'
  return (
    <span className={`pw-save-chip${warns ? ' pw-save-warn' : ''}`} title={words} role="status">
      {ICONS[nameWaits && save.kind === 'saved' ? 'failed' : save.kind]}
      <span className="pw-cut">{words}</span>
    </span>
  )
}
