import i18next from 'i18next'
import type { PreviewSide, Sample } from '../../../api/types'
import type { Column, Json, Row } from '../../../dag/document'
import type { SampleRows } from '../draft-requests'

/** Source id → the rows that are kept of it. */
export type Samples = Readonly<Record<string, Sample>>

/** What a table of a preview shows, as rows by column name. Throws where a value did not come whole: other rows would be made of it. */
export function rowsOfSide(side: PreviewSide | undefined): Row[] {
  const [cut] = side?.cut ?? []
  if (cut) throw new Error(i18next.t('samples:cut', { column: cut.column, count: cut.characters }))
  return (side?.rows ?? []).map((row) => Object.fromEntries((side?.columns ?? []).map((column, place) => [column.name, (row[place] ?? null) as Json])))
}

const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``

/** Columns as SQL writes them: names are quoted where they have to be. */
export const columnsText = (columns: string | readonly Column[]): string =>
  typeof columns === 'string' ? columns : columns.map(({ name, type }) => `${/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)} ${type}`).join(', ')

/** Rows and columns of a table, to be kept. */
export const sampleOfSide = (side: PreviewSide | undefined): SampleRows => ({ columns: (side?.columns ?? []).map(({ name, type }) => ({ name, type })), rows: rowsOfSide(side) })

/** What a preview of a node is to take instead of reading `sources`. */
export const givenOf = (samples: Samples, sources: readonly string[]): Record<string, SampleRows> =>
  Object.fromEntries(sources.flatMap((id) => (samples[id] ? [[id, { columns: samples[id].columns, rows: samples[id].rows as Row[] }]] : [])))

/** Another text for other rows: what was computed of the old ones is looked at anew. */
export const stampOf = (samples: Samples, sources: readonly string[]): string => sources.map((id) => `${id}=${samples[id]?.revision ?? ''}`).join(' ')
