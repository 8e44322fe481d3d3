import { useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { PreviewSide } from '../../api/types'
import { RowsTable } from '../../shared/rows-table'
import { reasonFirst } from './reason-first'

/** Rows of one port; `empty` is said where there are none. */
export function PreviewTable({ title, side, empty }: { title: string; side: PreviewSide; empty: string }) {
  const { t } = useTranslation('canvas')
  const lengthWords = useCallback((characters: number) => t('characters', { count: characters }), [t])
  const { columns, rows } = useMemo(() => reasonFirst(side), [side])
  return (
    <section className="pw-preview-side" aria-label={title}>
      <h3>
        {title} <small>{t(side.more ? 'preview.firstRows' : 'preview.rows', { count: side.rows.length })}</small>
      </h3>
      <RowsTable label={title} columns={columns} rows={rows} cut={side.cut} lengthWords={lengthWords} empty={empty} />
    </section>
  )
}
