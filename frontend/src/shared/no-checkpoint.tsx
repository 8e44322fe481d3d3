import { useTranslation } from 'react-i18next'
import { span } from './numbers'
import { useNow } from './use-now'

/** What is read lies unprotected: "no checkpoint for 14 min". `since`: the last checkpoint, or the start. */
export function NoCheckpoint({ since, running = false }: { since: string; running?: boolean }) {
  const { t } = useTranslation('shared')
  const { value, unit } = span(useNow() - Date.parse(since))
  return <>{t(running ? 'noCheckpointRunning' : 'noCheckpoint', { value, unit: t(`unit.${unit}`) })}</>
}
