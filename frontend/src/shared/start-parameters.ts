import type { JobDetail } from '../api/types'
import { typedNumber } from '../dag/exact-json'

export type ParameterValue = string | number | bigint | boolean

/** A parameter that a start asks for; `value` is what its field begins with, undefined for none. */
export interface StartParameter {
  name: string
  type: 'string' | 'integer' | 'number' | 'boolean'
  help: string
  fallback: ParameterValue | undefined
  value: ParameterValue | undefined
}

interface Declared {
  type?: StartParameter['type']
  default?: ParameterValue | null
  description?: string
}

/** The parameters of the current version: with the last start's values while it ran this version, since only with those it can be continued. */
export function parametersOf(job: Pick<JobDetail, 'version' | 'document' | 'latest_execution'>): StartParameter[] {
  const declared = (job.document?.parameters ?? {}) as Record<string, Declared>
  const last = (job.latest_execution?.parameters ?? {}) as Record<string, ParameterValue | undefined>
  const same = job.latest_execution?.version === job.version
  return Object.entries(declared).map(([name, { type = 'string', default: given, description = '' }]) => {
    const fallback = given ?? undefined
    return { name, type, help: description, fallback, value: same ? (last[name] ?? fallback) : (fallback ?? last[name]) }
  })
}

const typedAs = (type: StartParameter['type'], value: ParameterValue): ParameterValue =>
  typeof value === 'string' && (type === 'integer' || type === 'number') ? typedNumber(value) : value

/** What is sent: a field left empty is not named, so that its default stands or the server asks for it; a text with a default may be empty. */
export function valuesSent(parameters: readonly StartParameter[], typed: Readonly<Record<string, ParameterValue | undefined>>): Record<string, ParameterValue> {
  const given = parameters.flatMap(({ name, type, fallback }): [string, ParameterValue][] => {
    const value = typed[name]
    const empty = value === undefined || (value === '' && !(type === 'string' && fallback !== undefined))
    return empty ? [] : [[name, typedAs(type, value)]]
  })
  return Object.fromEntries(given)
}
