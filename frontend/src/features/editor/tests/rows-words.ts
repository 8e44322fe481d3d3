import { useCallback } from 'react'
import { useTranslation } from 'react-i18next'
import { jsonPlace } from '../../../shared/json-text'
import { NoRows } from './rows-text'

/** Whether a browser says that JSON is at its end where more has to come. */
const endsEarly = (words: string) => /unexpected end of (?:JSON input|data)/i.test(words)

/** Why a text holds no rows, in the reader's language; what is said of JSON is the browser's in English. */
export function useRowsWords(): (error: unknown) => string {
  const { t } = useTranslation('canvas')
  return useCallback(
    (error: unknown) => {
      if (error instanceof NoRows) return t(`noRows.${error.reason}`, { ...error.values, interpolation: { escapeValue: false } })
      if (error instanceof SyntaxError) {
        if (endsEarly(error.message)) return t('noRows.jsonEnds')
        const place = jsonPlace(error.message)
        return t(place ? 'noRows.jsonAt' : 'noRows.json', { ...place, why: error.message, interpolation: { escapeValue: false } })
      }
      return error instanceof Error ? error.message : String(error)
    },
    [t],
  )
}
