import type { Column } from '../../../dag/document'

/** An input of a query as a table. */
export interface Table {
  name: string
  columns: readonly Column[]
}

export interface Offer {
  label: string
  type: 'property' | 'class' | 'function'
  detail?: string
  apply?: string
  boost?: number
}

const FUNCTIONS = 'abs avg cast ceil coalesce concat count current_timestamp date_format date_trunc floor from_json greatest hour if ifnull initcap instr isnotnull isnull least length lower lpad make_timestamp max md5 min minute month nullif regexp_extract regexp_replace round rpad sha2 split sqrt substring sum to_date to_json to_timestamp trim try_cast upper year'.split(' ')
/** Words that stand where an alias might. */
const NO_ALIAS = new Set('on using where group order having limit union intersect except join inner left right full cross anti semi natural lateral tablesample pivot window as'.split(' '))
/** Tables stand behind FROM and JOIN, and behind commas among them. */
const TABLES = /\b(?:from|join)\s+((?:[\w$`]+(?:\s+(?:as\s+)?[\w$`]+)?\s*,\s*)*[\w$`]+(?:\s+(?:as\s+)?[\w$`]+)?)/gi
const BEHIND_FROM = /\b(?:from|join)\s+(?:[\w$`]+(?:\s+(?:as\s+)?[\w$`]+)?\s*,\s*)*[\w$`]*$/i
const bare = (name: string) => name.replaceAll('`', '').toLowerCase()

/** Each name by which a table can be called in the query → the table. */
function calledTables(query: string, tables: readonly Table[]): Map<string, Table> {
  const called = new Map(tables.map((table) => [table.name.toLowerCase(), table]))
  for (const [, list = ''] of query.matchAll(TABLES)) {
    for (const part of list.split(',')) {
      const [name = '', ...rest] = part.trim().split(/\s+/).map(bare)
      const alias = rest.at(-1) ?? ''
      const table = called.get(name)
      if (table && alias && !NO_ALIAS.has(alias)) called.set(alias, table)
    }
  }
  return called
}

const columnOffers = (columns: readonly Column[]): Offer[] => columns.map((column) => ({ label: column.name, detail: column.type, type: 'property', boost: 10 }))

/** What to offer at `at`, and where what it replaces begins; null for nothing. `asked`: by hand, not just by typing. */
export function sqlOffers(query: string, at: number, asked: boolean, columns: readonly Column[], tables: readonly Table[]): { from: number; options: Offer[] } | null {
  const before = query.slice(0, at)
  const word = /[\w$]*$/.exec(before)?.[0] ?? ''
  const from = at - word.length
  const table = /([\w$`]+)\.[\w$]*$/.exec(before)?.[1]
  if (table !== undefined) return { from, options: columnOffers(calledTables(query, tables).get(bare(table))?.columns ?? columns) }
  if (tables.length > 0 && BEHIND_FROM.test(before)) return { from, options: tables.map(({ name, columns: has }) => ({ label: name, detail: has.map((column) => column.name).join(', ').slice(0, 60), type: 'class', boost: 20 })) }
  if (!word && !asked) return null
  return { from, options: [...columnOffers(columns), ...FUNCTIONS.map((name): Offer => ({ label: name, apply: `${name}(`, type: 'function' }))] }
}
