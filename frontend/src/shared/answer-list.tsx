import { IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'react-router'
import { holdAnswers, useAnswers, type Answer } from './answers'
import { StateGlyph } from './state-glyph'
import { clock } from './times'

/** The latest answers, at the page's corner. */
export function AnswerList() {
  const { t } = useTranslation('shared')
  const { answers, dismiss } = useAnswers()
  const here = useLocation().pathname
  const taken = ({ id, link }: Answer) => {
    dismiss(id)
    if (link && 'run' in link) link.run()
  }
  return (
    <div
      className="pw-answers"
      aria-live="polite"
      onPointerMove={() => holdAnswers(true)}
      onPointerLeave={(event) => holdAnswers(event.currentTarget.contains(document.activeElement))}
      onFocus={() => holdAnswers(true)}
      onBlur={(event) => holdAnswers(event.currentTarget.contains(event.relatedTarget) || event.currentTarget.matches(':hover'))}
    >
      {answers.map((one) => (
        <div key={one.id} className="pw-answer" role={one.ok ? undefined : 'alert'}>
          <StateGlyph state={one.ok ? 'completed' : 'failed'} />
          <span>
            {one.text} <span className="pw-3">{clock(one.at)}</span>
          </span>
          {one.link && 'to' in one.link && one.link.to !== here && (
            <Link className="pw-link" to={one.link.to}>
              {one.link.words}
            </Link>
          )}
          {one.link && 'run' in one.link && (
            <button type="button" className="pw-link" onClick={() => taken(one)}>
              {one.link.words}
            </button>
          )}
          <button type="button" className="pw-link" aria-label={t('dismiss')} onClick={() => dismiss(one.id)}>
            <IconX size={14} />
          </button>
        </div>
      ))}
    </div>
  )
}
