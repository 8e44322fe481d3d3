import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export function NotRead({ message, again }: { message: string; again: () => void }) {
  const { t } = useTranslation('versions')
  return (
    <p className="pw-bad pw-wrap" role="alert">
      {t('notRead', { message })} <Button onClick={again}>{t('again')}</Button>
    </p>
  )
}
