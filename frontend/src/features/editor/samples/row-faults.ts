import { said } from '../../../api/sentences/said'
import type { Problem } from '../../../dag/document'

/** What is wrong with one row: `row` counts from 0; `column` is "" where the whole row is meant. */
export interface RowFault {
  row: number
  column: string
  words: string
}

/** Where a fault stands in the text of the rows, as character positions. */
export interface FaultPlace {
  from: number
  to: number
  words: string
}

const unescaped = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** The faults of the rows of one source among what the server says of a preview; the other problems are not about rows. */
export function rowFaults(problems: readonly Problem[], nodeId: string): RowFault[] {
  const start = `/samples/${nodeId}/rows/`
  return problems
    .filter((problem) => problem.pointer.startsWith(start))
    .map((problem) => {
      const [row = '', ...column] = problem.pointer.slice(start.length).split('/').map(unescaped)
      return { row: Number(row), column: column[0] ?? '', words: said(problem.message.replace(/^.*?, row \d+, column [^:]*: /, '')) }
    })
    .filter((fault) => Number.isInteger(fault.row))
}

/** The place of a fault in rows that are written one a line, as `textOfRows` writes them: its value, else its line. */
export function faultPlace(text: string, fault: RowFault): FaultPlace {
  const lines = text.split('\n')
  const number = Math.min(fault.row + 1, lines.length - 1)
  const line = lines[number] ?? ''
  const start = lines.slice(0, number).reduce((sum, one) => sum + one.length + 1, 0)
  const name = `${JSON.stringify(fault.column)}:`
  const at = line.indexOf(name)
  const indent = line.length - line.trimStart().length
  if (fault.column === '' || at < 0) return { from: start + indent, to: start + line.length, words: fault.words }
  return { from: start + at, to: start + at + name.length + valueLength(line.slice(at + name.length)), words: fault.words }
}

/** How long the JSON value is with which `text` begins. */
function valueLength(text: string): number {
  let depth = 0
  let quoted = false
  for (let place = 0; place < text.length; place += 1) {
    const sign = text[place] ?? ''
    if (quoted && sign === '\\') place += 1
    else if (sign === '"') quoted = !quoted
    else if (!quoted && '[{'.includes(sign)) depth += 1
    else if (!quoted && depth === 0 && ',}]'.includes(sign)) return place
    else if (!quoted && '}]'.includes(sign)) depth -= 1
  }
  return text.length
}

/** The line of which a browser says that its JSON cannot be read; 0 where it names none. */
export const lineIn = (words: string): number => Number(/line (\d+)/.exec(words)?.[1] ?? 0)

/** Where line `number` stands, which cannot be read. */
export function unreadablePlace(text: string, number: number, words: string): FaultPlace | null {
  const lines = text.split('\n')
  if (number < 1 || number > lines.length) return null
  const start = lines.slice(0, number - 1).reduce((sum, one) => sum + one.length + 1, 0)
  return { from: start, to: start + (lines[number - 1] ?? '').length, words }
}
