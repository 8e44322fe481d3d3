import { IconDeviceFloppy, IconPin } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { said } from '../../api/sentences/said'
import type { Checkpoint } from '../../api/types'
import type { Column } from '../data-table'
import { count, duration } from '../numbers'
import { RelativeTime } from '../relative-time'
import { StateGlyph } from '../state-glyph'
import { stateWord } from '../state-word'
import { isPinned, isSavepoint, keptBytes } from './kept'
import { notRestorable } from './not-restorable'
import { isDamaged, shownState } from './shown-state'
import { SizeFigure } from './size-figure'

/** How checkpoints rank within the rows shown, for the bars under figures. */
export interface Largest {
  size: number
  took: number
}

export const largestOf = (rows: readonly Checkpoint[]): Largest => ({
  size: Math.max(1, ...rows.map((row) => row.storage_size_bytes)),
  took: Math.max(1, ...rows.map((row) => row.duration_ms ?? 0)),
})

const share = (part: number, whole: number) => `${Math.min(100, (part / whole) * 100)}%`

export function CheckpointChips({ checkpoint, t }: { checkpoint: Checkpoint; t: TFunction<'checkpoints'> }) {
  return (
    <>
      {isSavepoint(checkpoint) && (
        <span className="pw-chip">
          <IconDeviceFloppy size={12} aria-hidden /> {t('savepoint')}
        </span>
      )}
      {checkpoint.source && <span className="pw-chip">{t(`travel.chip.${checkpoint.source.way}`)}</span>}
      {isPinned(checkpoint) && (
        <span className="pw-chip">
          <IconPin size={12} aria-hidden /> {t('pinned')}
        </span>
      )}
      {checkpoint.label && (
        <span className="pw-11 pw-3 pw-cut pw-yields" title={checkpoint.label}>
          “{checkpoint.label}”
        </span>
      )}
    </>
  )
}

function Restorable({ checkpoint, t }: { checkpoint: Checkpoint; t: TFunction<'checkpoints'> }) {
  if (checkpoint.status === 'PENDING') return <span className="pw-12 pw-3">{t('copying')}</span>
  if (checkpoint.restorable) return <span className="pw-12">{t('yes')}</span>
  if (isDamaged(checkpoint)) return <span className="pw-11 pw-bad" title={said(checkpoint.failure_reason)}>{t('reason.DAMAGED')}</span>
  return (
    <span className={`pw-11 pw-lines-2 ${checkpoint.status === 'FAILED' ? 'pw-bad' : 'pw-3'}`} title={said(checkpoint.failure_reason) || notRestorable(t, checkpoint)}>
      {checkpoint.status === 'FAILED' ? said(checkpoint.failure_reason) || t('failed') : notRestorable(t, checkpoint) || t('no')}
    </span>
  )
}

const SAID_AT_THE_SIDE = ['origin', 'exclusive', 'took']

interface Shown {
  largest: Largest
  withJob?: boolean
  /** One of them is open at the side, which says the rest. */
  beside?: boolean
}

/** Number with its state, job, origin, when, sizes, duration, whether one can restore from it: its reason has as much room as the job. */
export function checkpointColumns(t: TFunction<'checkpoints'>, { largest, withJob = false, beside = false }: Shown): Column<Checkpoint>[] {
  const job: Column<Checkpoint> = {
    key: 'job',
    title: t('column.job'),
    cell: (row) => (
      <span className="pw-line">
        <span className="pw-mono pw-cut" title={row.job_title}>
          {row.job_name}
        </span>
        <CheckpointChips checkpoint={row} t={t} />
      </span>
    ),
  }
  const marks: Column<Checkpoint> = { key: 'marks', title: t('column.marks'), cell: (row) => <span className="pw-line"><CheckpointChips checkpoint={row} t={t} /></span> }
  const columns: Column<Checkpoint>[] = [
    {
      key: 'number',
      title: t('column.number'),
      width: 92,
      cell: (row) => (
        <span className="pw-line">
          <StateGlyph state={shownState(row)} label={stateWord(t, shownState(row))} />
          <span className="pw-mono">{count(row.checkpoint_id)}</span>
        </span>
      ),
    },
    withJob ? job : marks,
    { key: 'origin', title: t('column.origin'), width: 88, cell: (row) => <span className="pw-12 pw-2 pw-cut">{row.origin === 'MANUAL' && row.requested_by ? row.requested_by : t(`origin.${row.origin}`)}</span> },
    { key: 'taken', title: t('column.taken'), width: 96, numeric: true, cell: (row) => <RelativeTime time={row.create_time} /> },
    {
      key: 'logical',
      title: t('column.logical'),
      width: 88,
      numeric: true,
      cell: (row) => (
        <>
          <SizeFigure value={keptBytes(row, row.storage_size_bytes)} />
          {row.storage_size_bytes > 0 && (
            <span className="pw-bar pw-bar-two">
              <i style={{ width: share(row.exclusive_bytes, largest.size) }} />
              <i style={{ width: share(Math.max(0, row.storage_size_bytes - row.exclusive_bytes), largest.size) }} />
            </span>
          )}
        </>
      ),
    },
    { key: 'exclusive', title: t('column.exclusive'), width: 80, numeric: true, cell: (row) => <SizeFigure value={keptBytes(row, row.exclusive_bytes)} /> },
    {
      key: 'took',
      title: t('column.took'),
      width: 84,
      numeric: true,
      cell: (row) => (
        <>
          <span className={row.status === 'FAILED' ? 'pw-bad' : undefined}>{duration(row.duration_ms)}</span>
          {row.duration_ms !== null && (
            <span className="pw-bar">
              <i style={{ width: share(row.duration_ms, largest.took) }} />
            </span>
          )}
        </>
      ),
    },
    { key: 'restorable', title: t('column.restorable'), cell: (row) => <Restorable checkpoint={row} t={t} /> },
  ]
  return beside ? columns.filter((column) => !SAID_AT_THE_SIDE.includes(column.key)) : columns
}
