import { IconDeviceFloppy } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Checkpoint, ExecutionEvent } from '../../api/types'
import { isSavepoint, keptBytes } from '../../shared/checkpoints/kept'
import { readCounts } from '../../shared/checkpoints/checkpoint-requests'
import { shownState } from '../../shared/checkpoints/shown-state'
import { SizeFigure } from '../../shared/checkpoints/size-figure'
import { count, duration } from '../../shared/numbers'
import { SectionHead } from '../../shared/section-head'
import { SkeletonBar } from '../../shared/skeleton'
import { StateGlyph } from '../../shared/state-glyph'
import { useStateWord } from '../../shared/state-word'
import { clock } from '../../shared/times'
import { EventList } from './event-list'

const CHECKPOINTS = 8
const EVENTS = 30
const COUNTS_MS = 30_000

interface Props {
  checkpoints: readonly Checkpoint[]
  events: readonly ExecutionEvent[]
  /** Number of the execution's first attempt. */
  first: number | null
  loading: boolean
  /** The execution has ended: what is missing will not come. */
  over: boolean
  /** A single query has none to wait for. */
  isTask: boolean
  nameOf: (nodeId: string) => string
  onTab: (tab: string) => void
  onCheckpoint: (checkpoint: Checkpoint) => void
}

/** How many there are, also of those that were not sent with the newest. */
function useCounts(checkpoints: readonly Checkpoint[], over: boolean) {
  const oldest = checkpoints.at(-1)
  const id = oldest?.execution_id ?? ''
  const newest = checkpoints[0]
  const { data } = useQuery({ queryKey: ['checkpoint-counts', id, newest?.checkpoint_id, newest?.status], queryFn: () => readCounts(id), enabled: oldest !== undefined && oldest.checkpoint_id > 1, refetchInterval: over ? false : COUNTS_MS, placeholderData: (before) => before })
  const here = (status: string) => checkpoints.filter((one) => one.status === status).length
  return { complete: data?.COMPLETED ?? here('COMPLETED'), failed: data?.FAILED ?? here('FAILED') }
}

/** The newest checkpoints and events, at the side. */
export function SidePanel({ checkpoints, events, first, loading, over, isTask, nameOf, onTab, onCheckpoint }: Props) {
  const { t } = useTranslation('executions')
  const said = useStateWord()
  const { complete, failed } = useCounts(checkpoints, over)
  const hasCheckpoints = !isTask || checkpoints.length > 0
  return (
    <aside className="pw-side">
      {hasCheckpoints && (
        <SectionHead title={t('tab.checkpoints')} note={checkpoints.length > 0 ? t(failed > 0 ? 'side.completeFailed' : 'side.complete', { complete: count(complete), failed: count(failed) }) : ''}>
          {checkpoints.length > CHECKPOINTS && (
            <button type="button" className="pw-link" onClick={() => onTab('checkpoints')}>
              {t('side.all')}
            </button>
          )}
        </SectionHead>
      )}
      {hasCheckpoints && checkpoints.length === 0 && <p className="pw-side-empty">{loading ? <SkeletonBar width={140} /> : t(over ? 'side.noneTaken' : 'side.noCheckpoint')}</p>}
      {checkpoints.length > 0 && (
        <table className="pw-table pw-side-table">
          <colgroup>
            <col />
            <col style={{ width: 62 }} />
            <col style={{ width: 66 }} />
            <col style={{ width: 74 }} />
          </colgroup>
          <tbody>
            {checkpoints.slice(0, CHECKPOINTS).map((one) => (
              <tr key={one.id} data-act tabIndex={0} onClick={() => onCheckpoint(one)} onKeyDown={(event) => event.key === 'Enter' && onCheckpoint(one)}>
                <td>
                  <span className="pw-line">
                    <StateGlyph state={shownState(one)} label={said(shownState(one))} />
                    <span className="pw-mono">{count(one.checkpoint_id)}</span>
                    {isSavepoint(one) && <IconDeviceFloppy size={12} className="pw-3 pw-fixed" role="img" aria-label={t('side.savepoint')} title={t('side.savepoint')} />}
                    <span className="pw-11 pw-3 pw-cut" title={one.label}>
                      {one.label}
                    </span>
                  </span>
                </td>
                <td className="pw-mono-11 pw-3">{clock(one.create_time)}</td>
                <td className="pw-num">{duration(one.duration_ms)}</td>
                <td className="pw-num">
                  <SizeFigure value={keptBytes(one, one.storage_size_bytes)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <SectionHead title={t('side.events')}>
        <button type="button" className="pw-link" onClick={() => onTab('timeline')}>
          {t('tab.timeline')}
        </button>
      </SectionHead>
      <div className="pw-side-events" role="region" aria-label={t('side.events')} tabIndex={0}>
        <EventList events={events.slice(0, EVENTS)} first={first} nameOf={nameOf} compact />
      </div>
    </aside>
  )
}
