import { useTranslation } from 'react-i18next'
import { ApiError } from '../api/request'
import { Notice } from './notice'

/** Why something could not be read, and a way to try again. */
export function Failure({ error, what, retry }: { error: Error; what: string; retry?: () => void }) {
  const { t } = useTranslation('shared')
  const words = error instanceof ApiError ? error.message : t('noAnswer')
  return (
    <Notice
      glyph="failed"
      title={t('notRead', { what })}
      acts={
        retry && (
          <button type="button" className="pw-link" onClick={retry}>
            {t('tryAgain')}
          </button>
        )
      }
    >
      {words}
    </Notice>
  )
}
