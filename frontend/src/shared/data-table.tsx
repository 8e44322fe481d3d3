import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { Fragment, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react'
import { SkeletonRows } from './skeleton'

export interface Column<T> {
  key: string
  title: ReactNode
  /** Pixels; the columns without share what is left. */
  width?: number
  numeric?: boolean
  /** The API's order for this column; a click turns it round. */
  order?: string
  cell: (row: T) => ReactNode
}

interface Props<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[] | undefined
  keyOf: (row: T) => string | number
  onRow?: ((row: T) => void) | undefined
  selected?: string | number | null
  /** What stands over the whole width below a row that is opened. */
  below?: (row: T) => ReactNode
  twoLines?: boolean
  loading?: boolean
  order?: string
  onOrder?: (order: string) => void
}

function Heading<T>({ column, order, onOrder }: { column: Column<T>; order: string; onOrder?: ((order: string) => void) | undefined }) {
  if (!column.order || !onOrder) return column.title
  const down = order === `-${column.order}`
  const on = down || order === column.order
  return (
    <button type="button" className="pw-sort" data-on={on || undefined} onClick={() => onOrder(down || !on ? (column.order ?? '') : `-${column.order}`)}>
      {column.title}
      {on && (down ? <IconArrowDown size={11} /> : <IconArrowUp size={11} />)}
    </button>
  )
}

const insideControl = (target: EventTarget) => target instanceof Element && target.closest('button, a, input, label, [role=menu]') !== null

/** Fixed layout, sticky head, rows click through; grey bars until the first rows are here. */
export function DataTable<T>({ label, columns, rows, keyOf, onRow, selected = null, below, twoLines = false, loading = false, order = '', onOrder }: Props<T>) {
  const act = (row: T) => (event: MouseEvent | KeyboardEvent) => {
    if (insideControl(event.target)) return
    if ('key' in event) {
      if (event.key !== 'Enter') return
      event.preventDefault()
    }
    onRow?.(row)
  }
  return (
    <table className={`pw-table${twoLines ? ' pw-table-two' : ''}`} aria-label={label} aria-busy={loading || undefined}>
      <colgroup>
        {columns.map((column) => (
          <col key={column.key} style={column.width ? { width: column.width } : undefined} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.key} className={column.numeric ? 'pw-num' : undefined} scope="col" aria-sort={column.order && order.replace('-', '') === column.order ? (order.startsWith('-') ? 'descending' : 'ascending') : undefined}>
              <Heading column={column} order={order} onOrder={onOrder} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows?.map((row) => {
          const more = below?.(row)
          return (
            <Fragment key={keyOf(row)}>
              <tr
                data-act={onRow ? true : undefined}
                tabIndex={onRow ? 0 : undefined}
                aria-selected={selected === null ? undefined : keyOf(row) === selected}
                onClick={onRow ? act(row) : undefined}
                onKeyDown={onRow ? act(row) : undefined}
              >
                {columns.map((column) => (
                  <td key={column.key} className={column.numeric ? 'pw-num' : undefined}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
              {more && (
                <tr className="pw-row-below">
                  <td colSpan={columns.length}>{more}</td>
                </tr>
              )}
            </Fragment>
          )
        })}
        {!rows && loading && <SkeletonRows columns={columns.length} />}
      </tbody>
    </table>
  )
}
