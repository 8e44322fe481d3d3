import { Button, Checkbox } from '@mantine/core'
import { IconColumns2, IconTrash } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../api/types'
import type { Column } from '../../shared/data-table'
import { count } from '../../shared/numbers'
import { isTickable, MOST_TICKED, type Ticked } from './use-ticked'

/** A box before each row that can be deleted, and one for all that are shown. */
export function tickColumn(t: TFunction<'checkpoints'>, ticked: Ticked, rows: readonly Checkpoint[]): Column<Checkpoint> {
  const shown = rows.filter(isTickable).map((row) => row.id)
  const on = shown.filter((id) => ticked.ids.has(id)).length
  return {
    key: 'tick',
    title: <Checkbox size="xs" aria-label={t('tick.all')} disabled={shown.length === 0} checked={on > 0 && on === shown.length} indeterminate={on > 0 && on < shown.length} onChange={() => ticked.flipAll(shown)} />,
    width: 36,
    cell: (row) => (isTickable(row) ? <Checkbox size="xs" aria-label={t('tick.one', { number: row.checkpoint_id, job: row.job_name })} checked={ticked.ids.has(row.id)} onChange={() => ticked.flip(row.id)} /> : null),
  }
}

/** What one can do with those that are ticked; in the place of the filters' end, so that no row moves. */
export function TickedBar({ ticked, hasMore, onCompare, onDelete }: { ticked: Ticked; hasMore: boolean; onCompare?: (() => void) | undefined; onDelete: () => void }) {
  const { t } = useTranslation('checkpoints')
  if (ticked.ids.size === 0) return null
  return (
    <span className="pw-line pw-ticked-bar">
      <span className="pw-12" role="status">{ticked.most ? t('tick.most', { count: MOST_TICKED, number: count(MOST_TICKED) }) : t('tick.count', { count: ticked.ids.size })}</span>
      {hasMore && !ticked.most && <Button variant="subtle" loading={ticked.reading} onClick={ticked.every}>{t('tick.every')}</Button>}
      <Button variant="subtle" onClick={ticked.clear}>{t('tick.none')}</Button>
      {onCompare && <Button leftSection={<IconColumns2 size={14} />} onClick={onCompare}>{t('tick.compare')}</Button>}
      <Button className="pw-danger" leftSection={<IconTrash size={14} />} onClick={onDelete}>{t('delete.act')}</Button>
    </span>
  )
}
