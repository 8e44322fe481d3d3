import type { Preview, PreviewSide } from '../../../api/types'
import { familyOf, type DagDocument, type Json, type PipelineTest, type Row } from '../../../dag/document'
import { previewNode } from '../draft-requests'

const ROWS = 10

const rowsOf = (side: PreviewSide | undefined): Row[] => (side?.rows ?? []).map((row) => Object.fromEntries((side?.columns ?? []).map((column, place) => [column.name, (row[place] ?? null) as Json])))

const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``

/** The sources from which rows come to a node. */
export function sourcesAbove(document: DagDocument, nodeId: string): string[] {
  const found = new Set<string>()
  const waiting = [nodeId]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (found.has(one)) continue
    found.add(one)
    for (const edge of Object.values(document.edges)) if (edge.to[0] === one) waiting.push(edge.from[0])
  }
  return [...found].filter((id) => familyOf(document.nodes[id]?.type ?? '') === 'source').sort()
}

async function read(document: DagDocument, nodeId: string, signal: AbortSignal): Promise<Preview> {
  const preview = await previewNode(document, nodeId, ROWS, signal)
  if (!preview.available) throw new Error(preview.problems[0]?.message ?? preview.message)
  return preview
}

/** Rows, columns and what is expected, as the first rows of the sources show them. Throws with the reason where they cannot be read. */
export async function takenFromPreview(document: DagDocument, nodeId: string, signal: AbortSignal): Promise<Required<Pick<PipelineTest, 'given' | 'columns' | 'expect'>>> {
  const given: Record<string, Row[]> = {}
  const columns: Record<string, string> = {}
  for (const source of sourcesAbove(document, nodeId)) {
    const side = (await read(document, source, signal)).outputs.out
    given[source] = rowsOf(side)
    if (side && side.columns.length > 0) columns[source] = side.columns.map((column) => `${quoted(column.name)} ${column.type}`).join(', ')
  }
  const found = await read(document, nodeId, signal)
  const isSink = familyOf(document.nodes[nodeId]?.type ?? '') === 'sink'
  if (isSink) return { given, columns, expect: { [nodeId]: rowsOf(found.inputs.in) } }
  const ports = Object.entries(found.outputs).filter(([port, side]) => port !== 'errors' || side.rows.length > 0)
  return { given, columns, expect: Object.fromEntries(ports.map(([port, side]) => [port === 'out' ? nodeId : `${nodeId}.${port}`, rowsOf(side)])) }
}
