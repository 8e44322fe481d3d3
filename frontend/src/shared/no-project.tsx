import { useTranslation } from 'react-i18next'
import { useMe } from '../api/use-me'
import { Notice } from './notice'

/** Who belongs to no project sees nothing and can make nothing: what that means, and who can help. */
export function NoProject() {
  const { t } = useTranslation('shared')
  const name = useMe().data?.username ?? ''
  return (
    <Notice page glyph="warning" title={t('noProject.title')}>
      {t('noProject.help', { name })}
    </Notice>
  )
}
