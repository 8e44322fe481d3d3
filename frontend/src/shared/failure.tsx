import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../api/request'
import { Notice } from './notice'

interface Props {
  error: Error
  what: string
  retry?: () => void
  /** A way on from here. */
  way?: ReactNode
  /** In the middle of an otherwise empty page. */
  page?: boolean
}

/** Why something could not be read, a way to try again where that can help, and a way on. */
export function Failure({ error, what, retry, way, page = false }: Props) {
  const { t } = useTranslation('shared')
  const isAnswer = error instanceof ApiError
  const again = retry && !(isAnswer && error.status === 404)
  return (
    <Notice
      page={page}
      glyph="failed"
      title={t('notRead', { what })}
      acts={
        (again || way) && (
          <>
            {again && (
              <button type="button" className="pw-link" onClick={retry}>
                {t('tryAgain')}
              </button>
            )}
            {way}
          </>
        )
      }
    >
      {isAnswer ? error.message : t('noAnswer')}
    </Notice>
  )
}
