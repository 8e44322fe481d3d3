import type { ConnectionKind } from '../../api/types'
import { spokenSchema } from '../canvas/field-words'

/** One field of a connection's form, as its kind's JSON Schema describes it. */
export interface KindField {
  name: string
  label: string
  help: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array'
  choices: { value: string; label: string }[]
  required: boolean
  advanced: boolean
  long: boolean
  example: string
  initial: unknown
  least: number | undefined
  most: number | undefined
  when: When
  /** Value → other fields that belong to it when it is chosen. */
  sets: Record<string, Record<string, unknown>>
  /** Advanced, but it stands with the others while this holds; null: it never does. */
  unfolds: When
}

/** Shown only while another field has one of these values; null: always. */
type When = { field: string; values: string[] } | null

interface Schema {
  title?: string
  description?: string
  type?: KindField['type']
  enum?: string[]
  default?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  'x-choices'?: Record<string, string>
  'x-order'?: number
  'x-advanced'?: boolean
  'x-widget'?: string
  'x-when'?: string
  'x-sets'?: Record<string, Record<string, unknown>>
  'x-unfolds'?: string
}

function whenOf(text: string | undefined): When {
  const [field, values] = (text ?? '').split('=')
  return field && values ? { field, values: values.split(/[,|]/) } : null
}

function fieldOf(name: string, schema: Schema, required: boolean): KindField {
  const example = schema.examples?.[0]
  return {
    name,
    label: schema.title ?? name,
    help: schema.description ?? '',
    type: schema.type ?? 'string',
    choices: (schema.enum ?? []).map((value) => ({ value, label: schema['x-choices']?.[value] ?? value.replaceAll('_', ' ') })),
    required,
    advanced: schema['x-advanced'] === true,
    long: schema['x-widget'] === 'textarea',
    example: typeof example === 'string' || typeof example === 'number' ? String(example) : '',
    initial: schema.default,
    least: schema.minimum,
    most: schema.maximum,
    when: whenOf(schema['x-when']),
    sets: schema['x-sets'] ?? {},
    unfolds: whenOf(schema['x-unfolds']),
  }
}

/** The fields in the kind's own order. */
export function fieldsOf(kind: ConnectionKind): KindField[] {
  const schema = spokenSchema(kind.schema, `connection.${kind.kind}`)
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const required = new Set((kind.schema.required ?? []) as string[])
  return Object.entries(properties)
    .sort(([, one], [, other]) => (one['x-order'] ?? 0) - (other['x-order'] ?? 0))
    .map(([name, schema]) => fieldOf(name, schema, required.has(name)))
}

/** What a new connection begins with: defaults are filled in, not hinted. */
export function initialConfig(fields: readonly KindField[]): Record<string, unknown> {
  return Object.fromEntries(fields.filter((field) => field.initial !== undefined).map((field) => [field.name, field.initial]))
}

const holds = (when: When, config: Record<string, unknown>): boolean => when === null || when.values.includes(String(config[when.field] ?? ''))

export const isShown = (field: KindField, config: Record<string, unknown>): boolean => holds(field.when, config)

/** Behind "More settings". */
export const isFolded = (field: KindField, config: Record<string, unknown>): boolean => field.advanced && !(field.unfolds && holds(field.unfolds, config))

/** The secrets that the chosen way of signing in needs, in the kind's order. */
export const secretsShown = (kind: ConnectionKind, config: Record<string, unknown>): string[] => Object.keys(kind.secrets).filter((secret) => holds(whenOf(kind.secrets_when[secret]), config))

/** What is sent of the secrets: those that are no longer needed are taken off with the way of signing in that needed them. */
export function secretsSent(kind: ConnectionKind, config: Record<string, unknown>, typed: Record<string, string | null | undefined>, kept: Record<string, boolean>): Record<string, string | null> {
  const needed = new Set(secretsShown(kind, config))
  const given = Object.entries(typed).filter((entry): entry is [string, string | null] => needed.has(entry[0]) && entry[1] !== undefined && entry[1] !== '')
  const gone = Object.keys(kind.secrets).filter((secret) => !needed.has(secret) && kept[secret])
  return Object.fromEntries([...given, ...gone.map((secret): [string, null] => [secret, null])])
}
