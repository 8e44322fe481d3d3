/** JSON as people paste it: what a browser would round stays as it was written. */

/** Whether a number that is written as `source` is `value`, and not only near it. */
export const isExact = (value: number, source: string): boolean => {
  const digits = source.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '').length
  return Number.isSafeInteger(value) || (Number.isFinite(value) && digits <= (/[.e]/i.test(source) ? 17 : 15))
}

/** Browsers tell how a number was written; one that does not rounds it. */
const kept = (_key: string, value: unknown, context?: { source?: string }): unknown => (typeof value === 'number' && context?.source !== undefined && !isExact(value, context.source) ? context.source : value)

/** What `text` holds, with numbers of more digits than a browser keeps as text. */
export const exactJson = (text: string): unknown => JSON.parse(text, kept)

const AS_WRITTEN = '\uE000'
const marked = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source ? `${AS_WRITTEN}${context.source}` : value

/** `text` with its fields in lines and each number as it was written; a text that is no JSON as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, marked), null, 2).replace(new RegExp(`"${AS_WRITTEN}([-+.0-9eE]+)"`, 'g'), '$1')
  } catch {
    return text
  }
}

/** Where a browser says that JSON cannot be read; null where it names no place. */
export function jsonPlace(words: string): { line: number; column: number } | null {
  const [, line, column] = /line (\d+) column (\d+)/.exec(words) ?? []
  return line ? { line: Number(line), column: Number(column) } : null
}
