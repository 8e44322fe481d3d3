/** JSON in which an integer beyond what a number keeps (2^53) stays exact: as a bigint, which is written out as it was read. */

interface ExactJSON {
  /** Browsers that know it also tell a reviver how a number was written; others round, as they always did. */
  rawJSON?: (text: string) => unknown
}

const { rawJSON } = JSON as ExactJSON
const MAY_ROUND = /\d{16}/
const INTEGER = /^-?\d+$/

if (rawJSON) {
  Object.defineProperty(BigInt.prototype, 'toJSON', {
    configurable: true,
    value(this: bigint) {
      return rawJSON(String(this))
    },
  })
}

const asNumber = (text: string): number | bigint => {
  const value = Number(text)
  return rawJSON && !Number.isSafeInteger(value) && INTEGER.test(text) ? BigInt(text) : value
}

const exact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined ? asNumber(context.source) : value

/** Like JSON.parse, but exact; throws like it. */
export const parseExact = (text: string): unknown => (MAY_ROUND.test(text) ? JSON.parse(text, exact) : JSON.parse(text))

/** The number that was typed, exact where it is an integer; what is no number stays a text, for the server to say so. */
export function typedNumber(typed: string): number | bigint | string {
  const text = typed.trim()
  return text !== '' && Number.isFinite(Number(text)) ? asNumber(text) : typed
}
