import type { ConnectionKind } from '../../api/types'

/** One field of a connection's form, as its kind's JSON Schema describes it. */
export interface KindField {
  name: string
  label: string
  help: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array'
  choices: string[]
  required: boolean
  advanced: boolean
  long: boolean
  example: string
  initial: unknown
  least: number | undefined
  most: number | undefined
  /** Shown only while another field has this value. */
  when: { field: string; values: string[] } | null
}

interface Schema {
  title?: string
  description?: string
  type?: KindField['type']
  enum?: string[]
  default?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  'x-order'?: number
  'x-advanced'?: boolean
  'x-widget'?: string
  'x-when'?: string
}

function whenOf(text: string | undefined): KindField['when'] {
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
    choices: schema.enum ?? [],
    required,
    advanced: schema['x-advanced'] === true,
    long: schema['x-widget'] === 'textarea',
    example: typeof example === 'string' || typeof example === 'number' ? String(example) : '',
    initial: schema.default,
    least: schema.minimum,
    most: schema.maximum,
    when: whenOf(schema['x-when']),
  }
}

/** The fields in the kind's own order. */
export function fieldsOf(kind: ConnectionKind): KindField[] {
  const properties = (kind.schema.properties ?? {}) as Record<string, Schema>
  const required = new Set((kind.schema.required ?? []) as string[])
  return Object.entries(properties)
    .sort(([, one], [, other]) => (one['x-order'] ?? 0) - (other['x-order'] ?? 0))
    .map(([name, schema]) => fieldOf(name, schema, required.has(name)))
}

/** What a new connection begins with: defaults are filled in, not hinted. */
export function initialConfig(fields: readonly KindField[]): Record<string, unknown> {
  return Object.fromEntries(fields.filter((field) => field.initial !== undefined).map((field) => [field.name, field.initial]))
}

export const isShown = (field: KindField, config: Record<string, unknown>): boolean => field.when === null || field.when.values.includes(String(config[field.when.field] ?? ''))
