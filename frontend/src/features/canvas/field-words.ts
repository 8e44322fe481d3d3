import i18next from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

interface Words {
  title: string
  help: string
  choices?: Record<string, string>
  /** The comment that the field's code begins with. */
  notes?: string
}

interface Field {
  title?: string
  description?: string
  enum?: unknown[]
  anyOf?: Field[]
  items?: unknown
  properties?: Record<string, Field>
  [key: string]: unknown
}

interface Spoken {
  fields: Record<string, Words | undefined>
  types: Record<string, Record<string, Words | undefined> | undefined>
  choices: Record<string, string | undefined>
  kinds: Record<string, { title: string; secrets: Record<string, string | undefined> } | undefined>
}

const BUNDLE = 'nodeFields'

/** Who reads English never loads the Chinese words; those who show them are drawn again once they are here. */
function load(): void {
  if (i18next.language !== 'zh' || i18next.hasResourceBundle('zh', BUNDLE)) return
  void import('./locales/node-fields.zh.json').then(({ default: words }) => i18next.addResourceBundle('zh', BUNDLE, words))
}
load()
i18next.on('languageChanged', load)

const chinese = (): Spoken | undefined => (i18next.language === 'zh' ? (i18next.getResourceBundle('zh', BUNDLE) as Spoken | undefined) : undefined)

/** By the type's own words for this field, then by those that fields of this name share; a row's field is "columns.name". */
function wordsOf({ types, fields }: Spoken, type: string, path: string): Words | undefined {
  const name = path.split('.').at(-1) ?? path
  const own = types[type]
  return own?.[path] ?? fields[path] ?? own?.[name] ?? fields[name]
}

function choicesOf({ choices }: Spoken, field: Field, words: Words | undefined): Record<string, string> | undefined {
  const values = field.enum ?? field.anyOf?.find((part) => part.enum)?.enum
  const given = field['x-choices'] as Record<string, string> | undefined
  return values && Object.fromEntries(values.map(String).map((value) => [value, words?.choices?.[value] ?? given?.[value] ?? choices[value] ?? value]))
}

function spoken(language: Spoken, schema: Field, type: string, above: string): Field {
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]): [string, Field] => {
    const path = `${above}${name}`
    const words = wordsOf(language, type, path)
    const choices = choicesOf(language, field, words)
    const items = field.items && typeof field.items === 'object' ? { items: spoken(language, field.items as Field, type, `${path}.`) } : {}
    return [name, { ...field, ...items, ...(words ? { title: words.title, description: words.help } : {}), ...(choices ? { 'x-choices': choices } : {}) }]
  })
  return schema.properties ? { ...schema, properties: Object.fromEntries(properties) } : schema
}

/** The form of a node type, or of a connection kind as "connection.KIND", in the reader's language; what has no words there keeps the catalogue's. */
export function spokenSchema<T extends Record<string, unknown>>(schema: T, type: string): T {
  const language = chinese()
  return language ? (spoken(language, schema, type, '') as T) : schema
}

/** The same; made anew when the language changes, or its words arrive. */
export function useSpokenSchema(schema: Record<string, unknown>, type: string): Record<string, unknown> {
  useTranslation()
  const language = chinese()
  return useMemo(() => (language ? spoken(language, schema, type, '') : schema), [language, schema, type])
}

const COMMENT = /^(?:#.*\n)+/

/** A node type for a new node of it: the code that it begins with, which is the person's from then on, is explained in the reader's language. */
export function spokenStart<T extends { type: string; schema: Record<string, unknown> }>(type: T): T {
  const words = chinese()?.types[type.type] ?? {}
  const properties = Object.entries((type.schema.properties ?? {}) as Record<string, Field>).map(([name, field]): [string, Field] => {
    const notes = words[name]?.notes?.split('\n').map((line) => `# ${line}\n`)
    return [name, notes && typeof field.default === 'string' ? { ...field, default: field.default.replace(COMMENT, notes.join('')) } : field]
  })
  return { ...type, schema: { ...type.schema, properties: Object.fromEntries(properties) } }
}

const CAPITALS = new Set(['api', 'csv', 'http', 'https', 'id', 'jdbc', 'json', 'sql', 'tls', 'uri', 'url', 'utc'])
/** As the server writes a field's name within a sentence. */
const inSentence = (name: string) => name.split('_').map((word) => (CAPITALS.has(word) ? word.toUpperCase() : word)).join(' ')

/** A sentence that begins with the field at `path` of a config: its name becomes its title in the reader's language. */
export function fieldTitle(sentence: string, schema: Record<string, unknown>, type: string, path: readonly string[]): string {
  const name = path.findLast((part) => !/^\d+$/.test(part))
  const language = chinese()
  const shown = language && spoken(language, schema, type, '')
  const title = shown && titleAt(shown, path)
  if (!name || !title) return sentence
  const [before = ''] = /^"[^"]*": /.exec(sentence) ?? []
  const rest = sentence.slice(before.length)
  const item = itemOf(shown, path)
  const [told, behind] = item && rest.startsWith(item.words) ? [before + item.told, rest.slice(item.words.length)] : [before, rest]
  const words = inSentence(name)
  return behind.startsWith(`${words} `) || behind.startsWith(`${words}:`) ? `${told}${title}${behind.slice(words.length)}` : sentence
}

/** The item of a list that the field at `path` belongs to: the server's words before its sentence, as in "columns 3: ", and the reader's. */
function itemOf(schema: Field, path: readonly string[]): { words: string; told: string } | null {
  const [list = '', place = ''] = path.slice(-3)
  if (path.length < 3 || !/^\d+$/.test(place)) return null
  const behind = ` ${Number(place) + 1}: `
  return { words: inSentence(list) + behind, told: (titleAt(schema, path.slice(0, -2)) ?? list) + behind }
}

function titleAt(schema: Field, path: readonly string[]): string | undefined {
  const [part, ...rest] = path
  if (part === undefined) return schema.title
  const below = /^\d+$/.test(part) && schema.items ? { ...(schema.items as Field), title: schema.title } : schema.properties?.[part]
  return below && titleAt(below, rest)
}

export const kindTitle = (kind: { kind: string; title: string }): string => chinese()?.kinds[kind.kind]?.title ?? kind.title

export const secretTitle = (kind: { kind: string; secrets: Record<string, string> }, secret: string): string => chinese()?.kinds[kind.kind]?.secrets[secret] ?? kind.secrets[secret] ?? secret
