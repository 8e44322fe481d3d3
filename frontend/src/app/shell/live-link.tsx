import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useStore } from 'zustand'
import { linkOf } from '../../live/link-state'
import { overviewStore } from '../../live/overview-stream'
import { clock } from '../../shared/times'
import { useOwnNow } from '../../shared/use-now'

/** Live, Reconnecting, Stale for so long, or Offline. */
export function LiveLink() {
  const { t } = useTranslation()
  const connectivity = useStore(overviewStore, (overview) => overview.link)
  const link = linkOf(useOwnNow(), connectivity)
  const words = link.kind === 'stale' ? t('link.stale', { seconds: link.seconds }) : link.kind === 'reconnecting' ? t('link.reconnecting', { attempt: link.attempt }) : t(`link.${link.kind}`)
  const since = connectivity.lastOpenAt === null ? t('link.never') : t(link.kind === 'live' ? 'link.since' : 'link.last', { time: clock(connectivity.lastOpenAt) })
  return (
    <Tooltip label={since}>
      <span className={`pw-live pw-live-${link.kind}`} role="status">
        <i aria-hidden />
        {words}
      </span>
    </Tooltip>
  )
}
