import { typedNumber } from '../../../dag/exact-json'

type Values = Record<string, unknown>

const isRecord = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** One number or text of a position: where in it, and what stands there. */
export interface Leaf {
  path: readonly string[]
  value: unknown
}

export function leavesOf(values: Values, path: readonly string[] = []): Leaf[] {
  return Object.entries(values).flatMap(([key, value]) => (isRecord(value) ? leavesOf(value, [...path, key]) : [{ path: [...path, key], value }]))
}

const nameOf = (path: readonly string[]) => path.join(' / ')

/** What is typed, as the position has it: numbers stay numbers; an empty field is none. */
function typed(text: string, before: unknown): unknown {
  const whole = text.trim()
  if (whole === '') return null
  return typeof before !== 'string' && /^-?\d+$/.test(whole) ? typedNumber(whole) : whole
}

/** `values` with what was typed over it, by the names of their leaves. */
export function written(values: Values, texts: Readonly<Record<string, string>>): Values {
  const made = structuredClone(values)
  for (const { path, value } of leavesOf(values)) {
    const text = texts[nameOf(path)]
    if (text === undefined) continue
    const holder = path.slice(0, -1).reduce<Values>((inner, key) => inner[key] as Values, made)
    holder[path.at(-1) ?? ''] = typed(text, value)
  }
  return made
}

export { nameOf }
