import { useTranslation } from 'react-i18next'
import { duration } from '../numbers'

const COLORS = ['phase-offsets', 'phase-plan', 'phase-batch', 'phase-wal', 'phase-commit', 'chart-4', 'chart-6']

/** Where the time went, as one bar with its parts named. */
export function CheckpointPhases({ phases, total }: { phases: Record<string, unknown>; total: number | null }) {
  const { t, i18n } = useTranslation('checkpoints')
  const parts = Object.entries(phases).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  const sum = parts.reduce((all, [, ms]) => all + ms, 0)
  if (sum === 0) return null
  const word = (phase: string) => (i18n.exists(`checkpoints:phase.${phase}`) ? t(`phase.${phase}`) : phase.replaceAll('_', ' '))
  return (
    <section>
      <h3>
        {t('detail.phases')} <span className="pw-11 pw-3">{duration(total ?? sum)}</span>
      </h3>
      <div className="pw-phase-bar" aria-hidden>
        {parts.map(([phase, ms], index) => (
          <i key={phase} style={{ flexGrow: ms, background: `var(--${COLORS[index % COLORS.length]})` }} />
        ))}
      </div>
      <ul className="pw-phase-words">
        {parts.map(([phase, ms], index) => (
          <li key={phase}>
            <i style={{ background: `var(--${COLORS[index % COLORS.length]})` }} />
            <span className="pw-grow pw-cut">{word(phase)}</span>
            <span className="pw-mono-11">{duration(ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
