import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router'
import { useStore } from 'zustand'
import type { Lane } from '../../api/types'
import { overviewStore } from '../../live/overview-stream'
import { short } from '../../shared/numbers'
import { useRateNow } from '../../shared/overview'
import { SectionHead } from '../../shared/section-head'
import { StateGlyph } from '../../shared/state-glyph'
import { useStateWord } from '../../shared/state-word'
import { dayClock, hourMinute } from '../../shared/times'
import { useNow } from '../../shared/use-now'
import { axisTimes, placeOf, worstFirst, type Place } from './lane-places'

const KEYS = ['running', 'completed', 'paused', 'failed'] as const
/** A minute is fine enough for a day. */
const MINUTE = 60_000

function Span({ place, span }: { place: Place; span: Lane['spans'][number] }) {
  const navigate = useNavigate()
  const said = useStateWord()
  const state = span.status.toLowerCase()
  const words = `${said(span.status)}, ${dayClock(span.from)} – ${span.to ? dayClock(span.to) : '…'}`
  return (
    <Tooltip label={words}>
      <button type="button" className="pw-lane-span" style={{ left: `${place.left}%`, width: `${place.width}%` }} aria-label={words} onClick={() => void navigate(`/executions/${span.execution_id}`)}>
        <i className={`pw-lane-${state}`} />
        {state === 'failed' && <b className="pw-lane-notch" />}
      </button>
    </Tooltip>
  )
}

/** By the live link, so that it is of the same moment as the sum above. */
function LaneRate({ lane }: { lane: Lane }) {
  const last = lane.spans.at(-1)
  const heard = useStore(overviewStore, (overview) => overview.state.executions[last?.execution_id ?? ''])
  const live = useRateNow(heard, lane.in_per_second)
  const listed = last?.status === 'RUNNING' ? lane.in_per_second : null
  return <span className="pw-num">{short(heard ? live : listed)}</span>
}

/** One lane a job over the last 24 hours, worst first as the server sorts them. */
export function Lanes({ lanes, total }: { lanes: readonly Lane[]; total: number }) {
  const { t } = useTranslation('home')
  const said = useStateWord()
  const now = Math.ceil(useNow() / MINUTE) * MINUTE
  return (
    <>
      <SectionHead title={t('lanes.title')} note={t('lanes.note', { shown: lanes.length, count: total })}>
        {KEYS.map((key) => (
          <span key={key} className={`pw-key pw-key-square pw-lane-key-${key}`}>
            <i />
            {t(`lanes.${key}`)}
          </span>
        ))}
      </SectionHead>
      <div className="pw-lane-axis" aria-hidden>
        {axisTimes(now).map(({ time, left }) => (
          <span key={time} style={{ left: `${left}%` }}>
            {left === 100 ? t('lanes.now') : hourMinute(time)}
          </span>
        ))}
        <em>{t('lanes.rate')}</em>
      </div>
      <ul className="pw-lanes">
        {worstFirst(lanes).map((lane) => (
          <li key={lane.job_name}>
            <Link to={`/jobs/${encodeURIComponent(lane.job_name)}`} className="pw-lane-name" title={lane.title}>
              <StateGlyph state={lane.spans.at(-1)?.status ?? 'scheduled'} label={said(lane.spans.at(-1)?.status ?? '')} />
              <span className="pw-mono-11 pw-cut">{lane.job_name}</span>
            </Link>
            <span className="pw-lane-track">
              {lane.spans.map((span) => {
                const place = placeOf(span, now)
                return place && <Span key={span.execution_id} place={place} span={span} />
              })}
            </span>
            <LaneRate lane={lane} />
          </li>
        ))}
      </ul>
      {lanes.length === 0 && <p className="pw-home-empty">{t('lanes.none')}</p>}
    </>
  )
}
