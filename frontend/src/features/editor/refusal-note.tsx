import { IconBan } from '@tabler/icons-react'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import type { Refusal } from '../../dag/connect-rules'

const SHOWN_MS = 5000

/** Says why a connection was not made; goes by itself. */
export function RefusalNote({ refusal, onGone }: { refusal: Refusal; onGone: () => void }) {
  const { t } = useTranslation('canvas')
  useEffect(() => {
    const timer = setTimeout(onGone, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [refusal, onGone])
  return (
    <div className="pw-refusal" role="alert">
      <IconBan size={14} />
      {t(`refusal.${refusal.reason}`, { detail: refusal.detail })}
    </div>
  )
}
