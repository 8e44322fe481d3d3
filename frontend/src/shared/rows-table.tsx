import { memo } from 'react'
import './rows-table.css'

const LONGEST = 120
const NUMERIC = /^(tinyint|smallint|int|bigint|float|double|decimal)/

interface Props {
  label: string
  columns: readonly { name: string; type: string }[]
  rows: readonly (readonly unknown[])[]
  /** Said where there is no row. */
  empty: string
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function Cell({ value, numeric }: { value: unknown; numeric: boolean }) {
  if (value === null || value === undefined) return <td className={`pw-3${numeric ? ' pw-num' : ''}`}>null</td>
  const text = textOf(value)
  return (
    <td className={numeric ? 'pw-num' : undefined} title={text.length > 24 ? text.slice(0, 2000) : undefined}>
      {text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}
    </td>
  )
}

/** Rows as Spark has them: names and types in the head, long texts cut. */
export const RowsTable = memo(function RowsTable({ label, columns, rows, empty }: Props) {
  const numeric = columns.map((column) => NUMERIC.test(column.type))
  return (
    <div className="pw-rows-table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={column.name} scope="col" className={numeric[index] ? 'pw-num' : undefined} title={`${column.name} ${column.type}`}>
                {column.name}
                <small>{column.type}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {row.map((value, index) => <Cell key={columns[index]?.name ?? index} value={value} numeric={numeric[index] ?? false} />)}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p className="pw-empty">{empty}</p>}
    </div>
  )
})
