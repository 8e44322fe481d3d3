import { useTranslation } from 'react-i18next'
import { said } from '../../api/sentences/said'
import type { Connection } from '../../api/types'
import { useStepName } from '../../shared/connection-step'
import { useHeardConnection } from '../../shared/overview'
import { RelativeTime } from '../../shared/relative-time'
import { StateGlyph } from '../../shared/state-glyph'
import './i18n'

/** Whether a connection works, in one line: glyph, words and when; what was found in full on hover. */
export function HealthWords({ connection }: { connection: Connection }) {
  const { t } = useTranslation('connections')
  const stepName = useStepName()
  const { test_time, test_ok, test_step, test_message, failing_since } = useHeardConnection(connection)
  if (!test_time) return <span className="pw-12 pw-3">{t('health.never')}</span>
  if (test_ok)
    return (
      <span className="pw-line pw-12" title={said(test_message)}>
        <StateGlyph state="completed" />
        <span className="pw-cut pw-2">
          {t('health.works')} <RelativeTime time={test_time} />
        </span>
      </span>
    )
  return (
    <span className="pw-line pw-12" title={said(test_message)}>
      <StateGlyph state="failed" />
      <span className="pw-cut pw-bad">
        {t('health.failing', { step: stepName(test_step) || t('health.test') })} <RelativeTime time={failing_since ?? test_time} bare />
        {t('health.why', { message: said(test_message) })}
      </span>
    </span>
  )
}
