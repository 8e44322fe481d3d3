import { useCallback } from 'react'
import { useTranslation } from 'react-i18next'

/** Any namespace's `t`. */
type Translate = (key: string, options: { defaultValue: string }) => string

/** A state of the API in the reader's language; one without words is said as it is. */
export const stateWord = (t: Translate, state: string): string => (state ? t(`shared:state.${state}`, { defaultValue: state }) : '')

export function useStateWord(): (state: string) => string {
  const { t } = useTranslation('shared')
  return useCallback((state: string) => stateWord(t, state), [t])
}
