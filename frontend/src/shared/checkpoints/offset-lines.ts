type Values = Record<string, unknown>

export const isRecord = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Nested positions as lines: "orders / 0" → 88,412. */
export function offsetLines(value: unknown, path = ''): [string, string][] {
  if (value === null || value === undefined) return []
  if (isRecord(value)) return Object.entries(value).flatMap(([key, inner]) => offsetLines(inner, path ? `${path} / ${key}` : key))
  return [[path, typeof value === 'string' ? value : JSON.stringify(value)]]
}
