import { exactJson } from '../../shared/json-text'
import type { Printed } from '../../live/execution-state'

export interface PrintedTable {
  nodeId: string
  /** All fields that any of its rows has, as they came first. */
  fields: string[]
  /** The newest batch first; the rows of one stand as they came. */
  rows: { batchId: number; values: Record<string, unknown> }[]
}

/** What stands for the fields of a row that did not come whole. */
export const AS_TEXT = ''

/** One table for each print sink that showed rows. */
export function printedTables(printed: readonly Printed[]): PrintedTable[] {
  const nodeIds = [...new Set(printed.map((one) => one.nodeId))]
  return nodeIds.map((nodeId) => {
    const shown = printed.filter((one) => one.nodeId === nodeId)
    const rows = batches(shown).reverse().flat().map(({ batchId, row }) => ({ batchId, values: valuesOf(row) }))
    return { nodeId, fields: [...new Set(rows.toReversed().flatMap(({ values }) => Object.keys(values)))], rows }
  })
}

/** Runs of rows of one batch. */
function batches(shown: readonly Printed[]): Printed[][] {
  const found: Printed[][] = []
  for (const one of shown) {
    const last = found.at(-1)
    if (last?.[0]?.batchId === one.batchId) last.push(one)
    else found.push([one])
  }
  return found
}

function valuesOf(row: string): Record<string, unknown> {
  try {
    const found = exactJson(row)
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Record<string, unknown>
  } catch {
    // It is told as it came.
  }
  return { [AS_TEXT]: row }
}

/** A column of numbers alone is lined up to the right. */
export const isNumeric = (values: readonly unknown[]): boolean => values.some((value) => value !== null && value !== undefined) && values.every((value) => value === null || value === undefined || typeof value === 'number')
