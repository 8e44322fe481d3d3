import { useCallback } from 'react'
import { useTranslation } from 'react-i18next'

/** The name of a step of a connection's test in the reader's language; one of a plugin without words is said as it is. */
export function useStepName(): (step: string) => string {
  const { t } = useTranslation('shared')
  return useCallback((step: string) => (step ? t(`connectionStep.${step}` as 'connectionStep.name', { defaultValue: step }) : ''), [t])
}
