import type { Column } from '../../../dag/document'

const COLUMN = /^\s*(?:`((?:[^`]|``)+)`\s*|([^\s:`]+)(?=[\s:])\s*):?\s*(\S.*?)\s*$/s

/** The parts between the commas that stand in no brackets and no quotes. */
function partsOf(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const [piece] of text.matchAll(/`[^`]*`|'[^']*'|[^`']|[`']/g)) {
    if ('<('.includes(piece)) depth += 1
    else if ('>)'.includes(piece)) depth -= 1
    if (piece === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += piece
  }
  return parts
}

/** Columns as SQL writes them, such as "id bigint, `of order` decimal(20,3)"; what cannot be read as one is left out, the server tells it. */
export const writtenColumns = (text: string): Column[] =>
  partsOf(text).flatMap((part) => {
    const [, quoted, plain, type] = COLUMN.exec(part) ?? []
    return type === undefined ? [] : [{ name: quoted?.replaceAll('``', '`') ?? plain ?? '', type }]
  })
