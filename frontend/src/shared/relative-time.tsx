import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { NO_VALUE, span } from './numbers'
import { wholeTime } from './times'
import { useNow } from './use-now'

/** The server's clock may be a little ahead of ours: that is still now. */
const CLOCKS_APART_MS = 2_000

interface Props {
  time: string | number | null | undefined
  /** Only the span, without "ago" or "in". */
  bare?: boolean
}

/** "6 min ago" or "in 7 min"; the whole time with its zone on hover. */
export function RelativeTime({ time, bare = false }: Props) {
  const { t } = useTranslation('shared')
  const now = useNow()
  if (time == null) return <span>{NO_VALUE}</span>
  const at = new Date(time).getTime()
  const { value, unit } = span(at - now > CLOCKS_APART_MS ? at - now : Math.max(0, now - at))
  const words = bare ? `${value} ${t(`unit.${unit}`)}` : t(at - now > CLOCKS_APART_MS ? 'time.ahead' : 'time.ago', { value, unit: t(`unit.${unit}`) })
  return (
    <Tooltip label={wholeTime(at)}>
      <time dateTime={new Date(at).toISOString()}>{words}</time>
    </Tooltip>
  )
}
