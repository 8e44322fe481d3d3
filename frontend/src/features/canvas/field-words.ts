import i18next from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import zh from './locales/node-fields.zh.json'

interface Words {
  title: string
  help: string
  choices?: Record<string, string>
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

const CHINESE: Spoken = zh
const isChinese = () => i18next.language === 'zh'

/** By the type's own words for this field, then by those that fields of this name share; a row's field is "columns.name". */
function wordsOf(type: string, path: string): Words | undefined {
  const name = path.split('.').at(-1) ?? path
  const own = CHINESE.types[type]
  return own?.[path] ?? CHINESE.fields[path] ?? own?.[name] ?? CHINESE.fields[name]
}

function choicesOf(field: Field, words: Words | undefined): Record<string, string> | undefined {
  const values = field.enum ?? field.anyOf?.find((part) => part.enum)?.enum
  return values && Object.fromEntries(values.map((value) => [String(value), words?.choices?.[String(value)] ?? CHINESE.choices[String(value)] ?? String(value)]))
}

function spoken(schema: Field, type: string, above: string): Field {
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]): [string, Field] => {
    const path = `${above}${name}`
    const words = wordsOf(type, path)
    const choices = choicesOf(field, words)
    const items = field.items && typeof field.items === 'object' ? { items: spoken(field.items as Field, type, `${path}.`) } : {}
    return [name, { ...field, ...items, ...(words ? { title: words.title, description: words.help } : {}), ...(choices ? { 'x-choices': choices } : {}) }]
  })
  return schema.properties ? { ...schema, properties: Object.fromEntries(properties) } : schema
}

/** The form of a node type, or of a connection kind as "connection.KIND", in the reader's language; what has no words there keeps the catalogue's. */
export function spokenSchema<T extends Record<string, unknown>>(schema: T, type: string): T {
  return isChinese() ? (spoken(schema, type, '') as T) : schema
}

/** The same, made anew when the language changes. */
export function useSpokenSchema(schema: Record<string, unknown>, type: string): Record<string, unknown> {
  const { i18n } = useTranslation()
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the language is read inside
  return useMemo(() => spokenSchema(schema, type), [schema, type, i18n.language])
}

export const kindTitle = (kind: { kind: string; title: string }): string => (isChinese() ? (CHINESE.kinds[kind.kind]?.title ?? kind.title) : kind.title)

export const secretTitle = (kind: { kind: string; secrets: Record<string, string> }, secret: string): string =>
  (isChinese() ? CHINESE.kinds[kind.kind]?.secrets[secret] : undefined) ?? kind.secrets[secret] ?? secret
