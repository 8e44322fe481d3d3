import { useTranslation } from 'react-i18next'
import type { PreviewSide } from '../../api/types'
import { RowsTable } from '../../shared/rows-table'

/** Rows of one port. */
export function PreviewTable({ title, side }: { title: string; side: PreviewSide }) {
  const { t } = useTranslation('canvas')
  return (
    <section className="pw-preview-side" aria-label={title}>
      <h3>
        {title} <small>{t('preview.rows', { count: side.rows.length })}</small>
      </h3>
      <RowsTable label={title} columns={side.columns} rows={side.rows} empty={t('preview.none')} />
    </section>
  )
}
