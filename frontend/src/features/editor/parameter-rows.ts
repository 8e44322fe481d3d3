import type { Json } from '../../dag/document'
import { typedNumber } from '../../dag/exact-json'

type Parameters = Record<string, Json>
type Declared = Record<string, Json | undefined>

/** A parameter as it is being written; what its form does not show stays in `origin`. */
export interface ParameterRow {
  key: number
  name: string
  type: string
  /** The default as typed; null: there is none. */
  text: string | null
  origin: Declared
}

export type RowFault = 'nameless' | 'taken'

let next = 0
const rowOf = (name: string, origin: Declared): ParameterRow => {
  next += 1
  return { key: next, name, type: typeOf(origin), text: textOf(origin.default), origin }
}
const typeOf = ({ type }: Declared) => (typeof type === 'string' ? type : 'string')
const textOf = (value: Json | undefined): string | null => {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export const parameterRows = (parameters: Parameters): ParameterRow[] =>
  Object.entries(parameters).map(([name, declared]) => rowOf(name, (declared ?? {}) as Declared))

export function newRow(rows: readonly ParameterRow[]): ParameterRow {
  const names = new Set(rows.map(({ name }) => name))
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

/** Row → why its name will not do. */
export function rowFaults(rows: readonly ParameterRow[]): Map<number, RowFault> {
  const faults = new Map<number, RowFault>()
  for (const { key, name } of rows) {
    if (name.trim() === '') faults.set(key, 'nameless')
    else if (rows.some((other) => other.key !== key && other.name.trim() === name.trim())) faults.set(key, 'taken')
  }
  return faults
}

/** What the rows declare; null while two of them have one name, or one has none: neither may wipe the other out. */
export const parametersIn = (rows: readonly ParameterRow[]): Parameters | null =>
  rowFaults(rows).size > 0 ? null : (Object.fromEntries(rows.map((row) => [row.name.trim(), declaredBy(row)])) as Parameters)
