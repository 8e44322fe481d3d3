import type { Column, Config } from '../../../dag/document'

/** Spark's names of types that a list of columns knows by another one. */
const OTHER: Record<string, string> = { tinyint: 'byte', smallint: 'short' }
const listed = (type: string) => type.replaceAll(/\b(?:tinyint|smallint)(?=[,>]|$)/g, (name) => OTHER[name] ?? name)

/** Spark takes names that differ in capitals only for one. */
const key = (column: { name?: unknown }) => String(column.name ?? '').toLowerCase()

/** Whether `incoming` has columns that `rows` do not list. */
export const lacks = (rows: readonly Config[], incoming: readonly Column[]): boolean => incoming.some((column) => rows.every((row) => key(row) !== key(column)))

/** The columns that come in, in their order, then the others of `rows`; a row that is there keeps its name and type, one without a name goes. */
export function takenColumns(rows: readonly Config[], incoming: readonly Column[]): Config[] {
  const there = new Map(rows.filter((row) => row.name).map((row) => [key(row), row]))
  const taken = incoming.map((column) => there.get(key(column)) ?? { name: column.name, type: listed(column.type) })
  const names = new Set(incoming.map(key))
  return [...taken, ...rows.filter((row) => row.name && !names.has(key(row)))]
}
