import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../api/types'
import { count, duration } from '../numbers'
import { dayClock } from '../times'
import { keptBytes } from './kept'
import { SignedBytes } from './signed-bytes'
import { SizeFigure } from './size-figure'
import { signed } from './signed'

const batches = (one: Checkpoint) => Object.entries(one.queries).map(([query, facts]) => `${query}: ${String((facts as { batch_id?: number }).batch_id ?? '–')}`).join(', ')
const less = (one: number | null | undefined, other: number | null | undefined) => (one == null || other == null ? null : one - other)

/** Two checkpoints in figures, and what lies between them. */
export function ComparedFacts({ first, second }: { first: Checkpoint; second: Checkpoint }) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const both = (of: (one: Checkpoint) => React.ReactNode) => [of(first), of(second)] as const
  const size = (one: Checkpoint) => keptBytes(one, one.storage_size_bytes)
  const apart = Date.parse(second.create_time) - Date.parse(first.create_time)
  const rows: (readonly [string, React.ReactNode, React.ReactNode, React.ReactNode])[] = [
    [t('column.taken'), ...both((one) => dayClock(one.create_time)), `${apart < 0 ? '−' : '+'}${duration(Math.abs(apart))}`],
    [t('detail.origin'), ...both((one) => t(`shared:origin.${one.origin}`)), ''],
    [t('compare.rowsRead'), ...both((one) => count(one.rows_read)), signed(less(second.rows_read, first.rows_read))],
    [t('compare.backlog'), ...both((one) => count(one.backlog)), signed(less(second.backlog, first.backlog))],
    [t('column.took'), ...both((one) => duration(one.duration_ms)), ''],
    [t('column.logical'), ...both((one) => <SizeFigure value={size(one)} />), <SignedBytes key="b" value={less(size(second), size(first))} />],
    [t('compare.files'), ...both((one) => count(one.file_count)), signed(second.file_count - first.file_count)],
    [t('compare.batches'), ...both(batches), ''],
  ]
  return (
    <table className="pw-facts pw-compare-table">
<colgroup><col className="pw-compare-name" /><col /><col /><col /></colgroup>
      <thead>
        <tr>
          <th />
          {[first, second].map((one) => <th key={one.id} scope="col">{t('detail.title', { number: one.checkpoint_id })}</th>)}
          <th scope="col">{t('compare.difference')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, one, other, difference]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{one}</td>
            <td>{other}</td>
            <td>{difference}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
