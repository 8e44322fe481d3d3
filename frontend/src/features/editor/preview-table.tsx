import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import type { PreviewSide } from '../../api/types'

const LONGEST = 120
const NUMERIC = /^(tinyint|smallint|int|bigint|float|double|decimal)/

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function Cell({ value, numeric }: { value: unknown; numeric: boolean }) {
  if (value === null || value === undefined) return <td className={`pw-preview-null${numeric ? ' pw-num' : ''}`}>null</td>
  const text = textOf(value)
  const cut = text.length > LONGEST
  return (
    <td className={numeric ? 'pw-num' : undefined} title={text.length > 24 ? text.slice(0, 2000) : undefined}>
      {cut ? `${text.slice(0, LONGEST)}…` : text}
    </td>
  )
}

/** Rows of one port: names and types in the head, long texts cut. */
export const PreviewTable = memo(function PreviewTable({ title, side }: { title: string; side: PreviewSide }) {
  const { t } = useTranslation('canvas')
  const numeric = side.columns.map((column) => NUMERIC.test(column.type))
  return (
    <section className="pw-preview-side" aria-label={title}>
      <h3>
        {title} <small>{t('preview.rows', { count: side.rows.length })}</small>
      </h3>
      <div className="pw-preview-scroll" role="region" aria-label={title} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {side.columns.map((column, index) => (
                <th key={column.name} scope="col" className={numeric[index] ? 'pw-num' : undefined} title={`${column.name} ${column.type}`}>
                  {column.name}
                  <small>{column.type}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {side.rows.map((row, place) => (
              <tr key={place}>
                {row.map((value, index) => (
                  <Cell key={side.columns[index]?.name ?? index} value={value} numeric={numeric[index] ?? false} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {side.rows.length === 0 && <p className="pw-empty">{t('preview.none')}</p>}
      </div>
    </section>
  )
})
