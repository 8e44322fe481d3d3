import { useTranslation } from 'react-i18next'
import type { CheckpointUsage } from '../../api/types'
import { SizeFigure } from '../../shared/checkpoints/size-figure'
import { Figure } from '../../shared/figure'
import { count } from '../../shared/numbers'

/** Every complete checkpoint of the projects one sees, whatever the list below is filtered by. */
export function UsageStrip({ usage }: { usage: CheckpointUsage }) {
  const { t } = useTranslation('checkpoints')
  const kept = `${t('strip.savepoints', { count: usage.savepoints })} · ${t('strip.pinned', { count: usage.pinned })}`
  const grows = usage.bytes_in_a_week !== null && usage.bytes_in_a_week > usage.bytes_logical
  return (
    <div className="pw-strip">
      <Figure label={t('strip.complete')} note={kept}>
        {count(usage.count)}
      </Figure>
      <Figure label={t('strip.exclusive')} note={t('strip.exclusiveHelp')}>
        <SizeFigure value={usage.bytes_exclusive} />
      </Figure>
      <Figure label={t('strip.logical')} note={usage.bytes_in_a_week === null ? t('strip.noForecast') : <>{t(grows ? 'strip.grows' : 'strip.inAWeek')} <SizeFigure value={usage.bytes_in_a_week} /></>}>
        <SizeFigure value={usage.bytes_logical} />
      </Figure>
      {usage.ages.map((one) => (
        <Figure key={one.age} label={t(`strip.age.${one.age}`)} note={t('shown', { count: one.count })}>
          <SizeFigure value={one.bytes_exclusive} />
        </Figure>
      ))}
      <Figure label={t('strip.failed')} {...(usage.failed > 0 ? { glyph: 'failed', tone: 'bad' as const } : {})} note={t('strip.beingCopied', { count: usage.pending })}>
        {count(usage.failed)}
      </Figure>
    </div>
  )
}
