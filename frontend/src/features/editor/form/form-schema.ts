import type { RJSFSchema, UiSchema } from '@rjsf/utils'

type Part = RJSFSchema & Record<string, unknown>

/** "A or null" is drawn as A, and marked: an empty field is null. */
function plain(part: Part): Part {
  const choices = (part.anyOf ?? []) as Part[]
  const real = choices.filter((choice) => choice.type !== 'null')
  const rest = Object.fromEntries(Object.entries(part).filter(([key]) => key !== 'anyOf'))
  let flat: Part = choices.length > real.length && real.length === 1 ? { ...real[0], ...rest, type: real[0]?.type, 'x-nullable': true } : part
  if (flat.items && typeof flat.items === 'object') flat = { ...flat, items: plain(flat.items as Part) }
  if (flat.properties) {
    flat = { ...flat, properties: Object.fromEntries(Object.entries(flat.properties).map(([name, field]) => [name, plain(field as Part)])) }
  }
  return flat
}

export const prepared = (schema: Record<string, unknown>): RJSFSchema => plain(schema as Part)

/** What a node's settings mean: a field that is not written stands at its default. */
export function withDefaults(schema: RJSFSchema, config: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries((schema.properties ?? {}) as Record<string, Part>).filter(([, field]) => field.default !== undefined)
  return { ...Object.fromEntries(given.map(([name, field]) => [name, field.default])), ...config }
}

/** What of a problem's path the form draws: rows of a list have cells of their own, tags and pairs of words do not. */
export function drawnPath(schema: RJSFSchema, path: readonly string[]): string[] {
  const [name, row, ...cell] = path
  const field = ((schema.properties ?? {}) as Record<string, Part>)[name ?? '']
  const hasRows = (field?.items as Part | undefined)?.type === 'object'
  return hasRows && row !== undefined ? [name ?? '', row, ...cell.slice(0, 1)] : path.slice(0, 1)
}

type Sets = Record<string, Record<string, unknown>>
const setsOf = (field: Part): Sets => (field['x-sets'] as Sets | undefined) ?? {}
/** Comments count as lines, whatever stands in them: a template's are in the reader's language. */
const withoutWords = (code: unknown) => String(code).replaceAll(/^#.*$/gm, '#')

/** Code that a person wrote stays; a template gives way to another. */
function staysWritten(part: Part | undefined, templates: readonly unknown[], code: unknown): boolean {
  return part?.['x-widget'] === 'code' && !templates.some((template) => withoutWords(template) === withoutWords(code))
}

/** `next`, and where a value was chosen now what its `x-sets` says belongs to it. */
export function withChosen<Values extends Record<string, unknown>>(schema: RJSFSchema, before: Record<string, unknown>, next: Values): Values {
  const parts = (schema.properties ?? {}) as Record<string, Part>
  const chosen = Object.entries(parts).filter(([name]) => next[name] !== before[name])
  const sets = chosen.flatMap(([name, field]) =>
    Object.entries(setsOf(field)[String(next[name])] ?? {}).filter(([other]) => {
      const templates = [parts[other]?.default, ...Object.values(setsOf(field)).map((one) => one[other])]
      return !staysWritten(parts[other], templates, next[other] ?? parts[other]?.default)
    }),
  )
  return Object.assign({}, next, Object.fromEntries(sets)) as Values
}

const order = (field: Part) => Number(field['x-order'] ?? 0)

/** A list of objects is always a table of rows; a list of words gets tags unless the type names something better. */
function drawnAs(field: Part, widget: string | undefined): UiSchema {
  const entries = field.type === 'array' ? (field.items as Part | undefined)?.type : undefined
  if (entries === 'object') return {}
  if (widget === 'mapping') return { 'ui:field': 'mapping' }
  if (entries === 'string' && !widget) return { 'ui:widget': 'words' }
  return widget ? { 'ui:widget': widget } : {}
}

/** How each field is drawn, from the hints the node type put into its schema. */
export function uiSchemaOf(schema: RJSFSchema): UiSchema {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Part>)
  const names = properties.sort(([, one], [, other]) => order(one) - order(other)).map(([name]) => name)
  const fields = properties.map(([name, field]): [string, UiSchema] => {
    const widget = field['x-widget'] as string | undefined
    const items = field.items && typeof field.items === 'object' ? uiSchemaOf(field.items as RJSFSchema) : undefined
    return [name, { ...drawnAs(field, widget), ...(items ? { items } : {}) }]
  })
  return { 'ui:order': [...names, '*'], ...Object.fromEntries(fields) }
}

/** "field=value", or "field=one|two"; several with & between. */
const holds = (condition: string, data: Record<string, unknown>): boolean =>
  condition.split('&').every((one) => {
    const [name = '', values = ''] = one.split('=')
    return values.split('|').includes(String(data[name]))
  })

/** A field may be there only where others have certain values. */
export function isShown(field: Record<string, unknown>, data: Record<string, unknown>): boolean {
  const when = field['x-when']
  return typeof when !== 'string' || holds(when, data)
}

/** Whether the rows of a list have other cells by what stands in one of them: each row then names its own. */
export function hasVariedRows(list: RJSFSchema): boolean {
  const cells = (list.items as Part | undefined)?.properties ?? {}
  return Object.values(cells).some((cell) => 'x-when' in (cell as Part))
}

/** Behind "more settings": an advanced field, unless another one has the value that calls for it. */
export function isFolded(field: Record<string, unknown>, data: Record<string, unknown>): boolean {
  const unfolds = field['x-unfolds']
  return Boolean(field['x-advanced']) && !(typeof unfolds === 'string' && holds(unfolds, data))
}

/** Whether there is room for little help: the field shares its line, or holds code, for which the room is. */
export const isBrief = (field: Record<string, unknown>): boolean => field['x-half'] === true || field['x-widget'] === 'code'

/** Whether a list of columns may be all that come in, and more. */
export const takesInput = (list: RJSFSchema): boolean => (list as Part)['x-takes-input'] === true

/** Whether a person gave the field another value than it has by itself. */
export function isSet(field: Record<string, unknown>, value: unknown): boolean {
  const usual = field.default ?? null
  return JSON.stringify(value ?? null) !== JSON.stringify(usual)
}

/** Fields as they stand in lines: two short ones that follow each other share one. */
export function linesOf<Field>(fields: readonly Field[], isShort: (field: Field) => boolean): Field[][] {
  const lines: Field[][] = []
  for (const field of fields) {
    const last = lines.at(-1)
    if (last?.length === 1 && last[0] !== undefined && isShort(last[0]) && isShort(field)) last.push(field)
    else lines.push([field])
  }
  return lines
}

/** Whether a field stands among those that are folded away. */
export function isInFold(schema: Record<string, unknown>, config: Record<string, unknown>, name: string): boolean {
  const field = ((schema.properties ?? {}) as Record<string, Record<string, unknown>>)[name]
  const data = withDefaults(schema as RJSFSchema, config)
  return field !== undefined && isFolded(field, data) && isShown(field, data)
}

/** Whether a field stands in the open part of the form: neither folded away nor left out for what others hold. */
export function isInView(schema: Record<string, unknown>, config: Record<string, unknown>, name: string): boolean {
  const field = ((schema.properties ?? {}) as Record<string, Record<string, unknown>>)[name]
  const data = withDefaults(schema as RJSFSchema, config)
  return field !== undefined && !isFolded(field, data) && isShown(field, data)
}
