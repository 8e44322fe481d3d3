import { Checkbox } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Off unless a person asks for it: what goes does not come back. */
export function RollBackChoice({ chosen, onChoose }: { chosen: boolean; onChoose: (chosen: boolean) => void }) {
  const { t } = useTranslation('checkpoints')
  return <Checkbox mt={8} size="xs" checked={chosen} onChange={(event) => onChoose(event.currentTarget.checked)} label={t('rollBack.choose')} description={t('rollBack.help')} />
}
