import { memo } from 'react'
import './rows-table.css'

const LONGEST = 120
const NUMERIC = /^(tinyint|smallint|int|bigint|float|double|decimal)/

interface Props {
  label: string
  /** `numeric`: lined up to the right, where no type says so. */
  columns: readonly { name: string; type: string; numeric?: boolean }[]
  rows: readonly (readonly unknown[])[]
  /** Said where there is no row. */
  empty: string
  /** Values that did not come whole, and how long they are. */
  cut?: readonly { row: number; column: string; characters: number }[]
  /** How the length of a value is said that is not shown whole. */
  lengthWords?: (characters: number) => string
}

const SCALE = /^decimal\(\d+, ?([1-9]\d*)\)$/

/** How many digits the decimals of a column have behind their point; 0 for other columns. */
export const scaleOf = (type: string): number => Number(SCALE.exec(type)?.[1] ?? 0)

/** A decimal has as many digits behind its point as its column, so that they stand below each other. */
export function textOf(value: unknown, scale: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (scale === 0 || !/^-?\d+(\.\d+)?$/.test(text)) return text
  const [whole, part = ''] = text.split('.')
  return `${whole}.${part.padEnd(scale, '0')}`
}

/** `characters`: how long the value is, where not all of it came. */
function Cell({ value, numeric, scale, characters, lengthWords }: { value: unknown; numeric: boolean; scale: number; characters: number | undefined; lengthWords: Props['lengthWords'] }) {
  if (value === null || value === undefined) return <td className={`pw-3${numeric ? ' pw-num' : ''}`}>null</td>
  const text = textOf(value, scale)
  return (
    <td className={numeric ? 'pw-num' : undefined} title={text.length > 24 ? text.slice(0, 2000) : undefined}>
      {text.length > LONGEST ? (
        <span className="pw-long">
          <span>{text.slice(0, LONGEST)}…</span> <small>{lengthWords?.(characters ?? text.length)}</small>
        </span>
      ) : (
        text
      )}
    </td>
  )
}

/** Rows as Spark has them: names and types in the head, long texts cut. */
export const RowsTable = memo(function RowsTable({ label, columns, rows, empty, cut = [], lengthWords }: Props) {
  const numeric = columns.map((column) => column.numeric ?? NUMERIC.test(column.type))
  const scales = columns.map((column) => scaleOf(column.type))
  const lengths = new Map(cut.map(({ row, column, characters }) => [`${row} ${column}`, characters]))
  return (
    <div className="pw-rows-table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={`${index} ${column.name}`} scope="col" className={numeric[index] ? 'pw-num' : undefined} title={`${column.name} ${column.type}`.trim()}>
                {column.name}
                <small>{column.type}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {row.map((value, index) => <Cell key={`${index} ${columns[index]?.name}`} value={value} numeric={numeric[index] ?? false} scale={scales[index] ?? 0} characters={lengths.get(`${place} ${columns[index]?.name}`)} lengthWords={lengthWords} />)}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p className="pw-empty">{empty}</p>}
    </div>
  )
})
