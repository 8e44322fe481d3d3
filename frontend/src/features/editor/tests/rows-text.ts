import type { Column, GivenRows, Json, Row } from '../../../dag/document'
import { exactJson, isExact } from '../../../shared/json-text'

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/

export type NoRowsReason = 'twice' | 'unnamedTwice' | 'width' | 'open' | 'oneLine' | 'item' | 'itemOrBatch'

/** Why a text holds no rows; `useRowsWords` says it. */
export class NoRows extends Error {
  constructor(
    readonly reason: NoRowsReason,
    readonly values: Readonly<Record<string, string | number>> = {},
  ) {
    super(reason)
  }
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** One row a line, so that rows can be told apart and compared. */
export function textOfRows(rows: GivenRows): string {
  const lines = (list: Row[], indent: string) => (list.length === 0 ? '[]' : `[\n${list.map((row) => `${indent}  ${JSON.stringify(row)}`).join(',\n')}\n${indent}]`)
  if (rows.length > 0 && rows.every((item) => Array.isArray(item))) return `[\n${(rows as Row[][]).map((batch) => `  ${lines(batch, '  ')}`).join(',\n')}\n]`
  return lines(rows as Row[], '')
}

/** What stands between two delimiters; `quoted`: all or a part of it within quotes. */
interface Value {
  text: string
  quoted: boolean
}

function valuesOf(text: string, delimiter: string): Value[][] {
  const rows: Value[][] = []
  let row: Value[] = []
  let value = ''
  let quoted = false
  let opened = 0
  let hadQuotes = false
  const end = () => {
    row.push({ text: value, quoted: hadQuotes })
    value = ''
    hadQuotes = false
  }
  for (let place = 0; place < text.length; place += 1) {
    const sign = text[place]
    if (quoted && sign === '"' && text[place + 1] === '"') {
      value += '"'
      place += 1
    } else if (sign === '"' && (quoted || value === '')) {
      quoted = !quoted
      opened = place
      hadQuotes = true
    } else if (!quoted && sign === delimiter) end()
    else if (!quoted && sign === '\n') {
      end()
      rows.push(row)
      row = []
    } else value += sign
  }
  if (quoted) throw new NoRows('open', { line: text.slice(0, opened).split('\n').length })
  if (value !== '' || hadQuotes || row.length > 0) {
    end()
    rows.push(row)
  }
  return rows
}

const isText = (type: string) => /^(?:string|(?:var)?char)\b/i.test(type)
const isNumber = (text: string) => NUMBER.test(text) && isExact(Number(text), text)
const isTruth = (text: string) => text === 'true' || text === 'false'

function typed({ text, quoted }: Value, type: string): Json {
  if (text === '') return quoted && isText(type) ? '' : null
  if (isText(type)) return text
  return isNumber(text) ? Number(text) : isTruth(text) ? text === 'true' : text
}

/** Of a column whose type nothing tells: text, unless all of its values are numbers, or all are true or false. Quotes make text too if they `tell`. */
function typeShown(values: readonly Value[], tell: boolean): string {
  const there = values.filter(({ text }) => text !== '')
  const isOther = !(tell && there.some(({ quoted }) => quoted)) && [isNumber, isTruth].some((isOne) => there.length > 0 && there.every(({ text }) => isOne(text)))
  return isOther ? '' : 'string'
}

/** The type of each column. Where a program put all values into quotes, these tell nothing. */
function typesOf(names: readonly string[], rows: readonly Value[][], columns: readonly Column[]): string[] {
  const known = new Map(columns.map((column) => [column.name, column.type]))
  const tell = rows.some((row) => row.some(({ text, quoted }) => text !== '' && !quoted))
  return names.map((name, place) => known.get(name) ?? typeShown(rows.flatMap((row) => row[place] ?? []), tell))
}

/** Values of columns of text stay text; an empty one is null, and an empty text where it is quoted. Numbers that a browser would round stay text too. */
function rowsOfCsv(text: string, columns: readonly Column[]): Row[] {
  const head = text.slice(0, text.indexOf('\n'))
  const delimiter = [',', '\t', ';'].sort((one, other) => head.split(other).length - head.split(one).length)[0] ?? ','
  const [names = [], ...rows] = valuesOf(text.replace(/\r\n?/g, '\n'), delimiter)
  const twice = names.find(({ text }, place) => names.findIndex((other) => other.text === text) < place)
  if (twice) throw new NoRows(twice.text ? 'twice' : 'unnamedTwice', { name: twice.text })
  const filled = rows.filter((row) => row.some(({ text, quoted }) => text !== '' || quoted))
  const wrong = filled.findIndex((row) => row.length !== names.length)
  if (wrong >= 0) throw new NoRows('width', { line: wrong + 2, values: filled[wrong]?.length ?? 0, columns: names.length })
  const types = typesOf(names.map((name) => name.text), filled, columns)
  return filled.map((row) => Object.fromEntries(row.map((value, place) => [names[place]?.text ?? '', typed(value, types[place] ?? '')])))
}

/** One object, or one a line, as many tools write them. */
function objectsOf(text: string): unknown[] {
  try {
    return [exactJson(text)]
  } catch {
    const lines = text.split('\n').map((line) => line.trim().replace(/,$/, ''))
    return exactJson(`[${lines.filter(Boolean).join(',\n')}]`) as unknown[]
  }
}

/** The rows that `text` holds as JSON or CSV; NoRows, or JSON's own error, says why it holds none. `batches`: lists of rows may stand in it too. */
export function rowsOfText(text: string, columns: readonly Column[] = [], batches = false): GivenRows {
  const trimmed = text.trim()
  if (trimmed === '') return []
  if (!/^[[{]/.test(trimmed)) {
    if (!trimmed.includes('\n')) throw new NoRows('oneLine')
    // What is blank at the end of the last line may be its empty values.
    return rowsOfCsv(text.replace(/^\ufeff?(?:[^\S\n]*\n)*/, '').replace(/(?:\n[ \r]*)+$/, ''), columns)
  }
  const list = trimmed.startsWith('{') ? objectsOf(trimmed) : (exactJson(trimmed) as unknown[])
  if (list.every(isRow)) return list
  if (batches && list.every((item) => Array.isArray(item) && item.every(isRow))) return list as Row[][]
  throw new NoRows(batches ? 'itemOrBatch' : 'item')
}
