import type { Json } from '../../dag/document'
import { typedNumber } from '../../dag/exact-json'

type Parameters = Record<string, Json>
type Declared = Record<string, Json | undefined>

/** A parameter as it is being written; what its form does not show stays in `origin`. */
export interface ParameterRow {
  key: number
  /** As typed. */
  name: string
  /** Its name in the drawing, until the one that is typed will do. */
  kept: string
  type: string
  /** The default as typed; null: there is none. */
  text: string | null
  origin: Declared
}

export type RowFault = 'nameless' | 'taken'

let next = 0
const rowOf = (name: string, origin: Declared): ParameterRow => {
  next += 1
  return { key: next, name, kept: name, type: typeOf(origin), text: textOf(origin.default), origin }
}
const typeOf = ({ type }: Declared) => (typeof type === 'string' ? type : 'string')
/** A value as it is typed; null: none. */
export const textOf = (value: Json | undefined): string | null => {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export const parameterRows = (parameters: Parameters): ParameterRow[] =>
  Object.entries(parameters).map(([name, declared]) => rowOf(name, (declared ?? {}) as Declared))

export function newRow(rows: readonly ParameterRow[]): ParameterRow {
  const names = new Set(rows.flatMap(({ name, kept }) => [name.trim(), kept]))
  let number = rows.length + 1
  while (names.has(`parameter_${number}`)) number += 1
  return rowOf(`parameter_${number}`, { type: 'string', default: '' })
}

/** The default that `text` means; null: it must then be given at the start. What is no number stays as it is, for the server to say so. */
export function typedDefault(type: string, text: string | null): Json {
  if (text === null) return null
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : null
  if (type !== 'number' && type !== 'integer') return text
  return text.trim() === '' ? null : typedNumber(text)
}

const declaredBy = ({ type, text, origin }: ParameterRow): Declared =>
  type === typeOf(origin) && text === textOf(origin.default) ? origin : { ...origin, type, default: typedDefault(type, text) }

const nameOf = ({ name }: ParameterRow) => name.trim()

/** Why the name that is typed will not do, when the rows with `faults` keep theirs. */
function faultOf(row: ParameterRow, rows: readonly ParameterRow[], faults: ReadonlyMap<number, RowFault>): RowFault | undefined {
  const name = nameOf(row)
  if (name === '') return 'nameless'
  const others = rows.filter((other) => other !== row)
  const taken = others.some((other) => (row.kept !== name && nameOf(other) === name) || (faults.has(other.key) && other.kept === name))
  return taken ? 'taken' : undefined
}

/** Row → why its name will not do. A row that keeps its name may be in the way of another one. */
export function rowFaults(rows: readonly ParameterRow[]): Map<number, RowFault> {
  const faults = new Map<number, RowFault>()
  let known = -1
  while (known !== faults.size) {
    known = faults.size
    for (const row of rows) {
      const fault = faultOf(row, rows, faults)
      if (fault) faults.set(row.key, fault)
    }
  }
  return faults
}

/** The rows, those whose name will do under it in the drawing. */
export function namedRows(rows: readonly ParameterRow[]): ParameterRow[] {
  const faults = rowFaults(rows)
  return rows.map((row) => (faults.has(row.key) ? row : { ...row, kept: nameOf(row) }))
}

export const isUnnamed = (rows: readonly ParameterRow[]): boolean => rows.some((row) => nameOf(row) !== row.kept)

/** What the rows declare: the drawing has each of them, no two under one name. */
export const parametersIn = (rows: readonly ParameterRow[]): Parameters =>
  Object.fromEntries(rows.map((row) => [row.kept, declaredBy(row)])) as Parameters
