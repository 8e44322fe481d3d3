import { useTranslation } from 'react-i18next'
import type { ExecutionEvent } from '../../api/types'
import { StateGlyph } from '../../shared/state-glyph'
import { clock, dayClock, wholeTime } from '../../shared/times'
import { eventDetail, eventGlyph, eventTitle } from './event-words'

/** Events by time, each with its glyph, what happened, who or why. */
export function EventList({ events, first, nameOf, compact = false }: { events: readonly ExecutionEvent[]; first: number | null; nameOf: (nodeId: string) => string; compact?: boolean }) {
  const { t } = useTranslation('executions')
  return (
    <ol className={`pw-events${compact ? ' pw-events-compact' : ''}`}>
      {events.map((event) => (
        <li key={event.seq}>
          <time className="pw-mono-11 pw-3" dateTime={event.time} title={wholeTime(event.time)}>
            {compact ? clock(event.time) : dayClock(event.time)}
          </time>
          <StateGlyph state={eventGlyph(event)} />
          <div className="pw-grow">
            <div className={compact ? 'pw-cut' : 'pw-wrap'}>{eventTitle(t, event, first)}</div>
            <div className={`pw-11 pw-3 ${compact ? 'pw-lines-2' : 'pw-wrap'}`}>{eventDetail(t, event, nameOf)}</div>
          </div>
          {!compact && <span className="pw-mono-11 pw-3">{event.seq}</span>}
        </li>
      ))}
    </ol>
  )
}
