import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Notice } from '../shared/notice'

const LATE_AFTER_MS = 3_000

/** In place of a page that is being fetched: nothing at first, and why nothing comes where it takes long. */
export function Awaited() {
  const { t } = useTranslation('app')
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!late) return null
  return (
    <main>
      <Notice page glyph="warning" title={t('pageLate')}>
        {t('pageLateHelp')}
      </Notice>
    </main>
  )
}
