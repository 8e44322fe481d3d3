import { said } from '../../api/sentences/said'
import type { DagNode, Json, NodeType } from '../../dag/document'

const FIELD = /\{(\w+)\}/g
/** What a template says besides a person's own names, which nobody translates. */
const WORD = /[a-z]{2}/

interface Field {
  default?: Json
  'x-widget'?: string
  'x-advanced'?: boolean
}

/** Of a list's row what names it: two columns that are equal as "left = right". */
const entryWords = (entry: Json): string => {
  if (!entry || typeof entry !== 'object' || Array.isArray(entry)) return String(entry)
  if (entry.left) return entry.right && entry.right !== entry.left ? `${String(entry.left)} = ${String(entry.right)}` : String(entry.left)
  return String(entry.name ?? entry.output ?? entry.column ?? '')
}

const words = (value: Json | undefined): string => {
  if (value == null || value === '' || typeof value === 'boolean') return ''
  if (Array.isArray(value)) {
    const names = value.map(entryWords).filter(Boolean)
    return names.length > 3 ? `${names.slice(0, 2).join(', ')} +${names.length - 2}` : names.join(', ')
  }
  return typeof value === 'object' ? '' : String(value).replace(/\s+/g, ' ').trim()
}

/** Parts between dots, without those whose every field is empty. */
const filled = (template: string, valueOf: (field: string) => string) =>
  template
    .split(' · ')
    .map((part) => {
      const values = [...part.matchAll(FIELD)].map(([, field = '']) => valueOf(field))
      if (values.length > 0 && values.every((value) => value === '')) return ''
      const line = part.replace(FIELD, (_, field: string) => valueOf(field)).trim()
      return WORD.test(part.replace(FIELD, '')) ? said(line) : line
    })
    .filter(Boolean)
    .join(' · ')

/** The one line under a node's name: what tells it from its siblings. As its type says, else what is required and what was changed. */
export function summary(node: DagNode, type: NodeType | undefined): string {
  const properties = (type?.schema.properties ?? {}) as Record<string, Field>
  const template = type?.schema['x-summary']
  const told = typeof template === 'string' ? filled(template, (field) => words(field in node.config ? node.config[field] : properties[field]?.default)) : ''
  return told || changes(node, properties, new Set((type?.schema.required ?? []) as string[]))
}

function changes(node: DagNode, properties: Record<string, Field>, required: ReadonlySet<string>): string {
  const names = Object.keys(properties).filter((name) => name !== 'connection' && !properties[name]?.['x-advanced'])
  const changed = names.filter((name) => !required.has(name) && JSON.stringify(node.config[name]) !== JSON.stringify(properties[name]?.default))
  const parts = [...names.filter((name) => required.has(name)), ...changed].map((name) => words(node.config[name])).filter(Boolean)
  return parts.slice(0, 2).join(' · ')
}
