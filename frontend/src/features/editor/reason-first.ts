import { said } from '../../api/sentences/said'
import type { PreviewSide } from '../../api/types'

const REASON = 'rejected_reason'

/** Rejected rows with what is wrong with each before its columns, where it is seen, and in the reader's language; others as they are. */
export function reasonFirst(side: PreviewSide): PreviewSide {
  const at = side.columns.findIndex((column) => column.name === REASON)
  const reason = side.columns[at]
  if (!reason) return side
  const others = <T>(list: readonly T[]) => list.filter((_, index) => index !== at)
  const words = (value: unknown) => (typeof value === 'string' ? said(value) : value)
  return { ...side, columns: [reason, ...others(side.columns)], rows: side.rows.map((row) => [words(row[at]), ...others(row)]) }
}
