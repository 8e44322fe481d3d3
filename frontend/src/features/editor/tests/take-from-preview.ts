import { said } from '../../../api/sentences/said'
import type { Preview } from '../../../api/types'
import { familyOf, type DagDocument, type PipelineTest, type Row } from '../../../dag/document'
import { previewNode, runTest, type SampleRows } from '../draft-requests'
import { useEditor } from '../editor-store'
import { shownOutputs } from '../shown-outputs'
import { columnsText, givenOf, rowsOfSide, type Samples } from '../samples/sample-rows'
import { sourcesAbove } from '../samples/sources-above'

/** Of a source that is read; rows that are kept are all taken. */
const READ_ROWS = 10
const MOST_ROWS = 1000

async function read(document: DagDocument, nodeId: string, rows: number, samples: Record<string, SampleRows>, signal: AbortSignal): Promise<Preview> {
  const preview = await previewNode(document, nodeId, rows, samples, signal)
  if (!preview.available) throw new Error(said(preview.problems[0]?.message ?? preview.message))
  return preview
}

type Taken = Required<Pick<PipelineTest, 'given' | 'columns' | 'expect'>>

/** What comes out when a test is run, all of it: in a stream windows and joins wait for later rows, which a preview has no need of. */
async function tested(document: DagDocument, taken: Taken, signal: AbortSignal): Promise<Taken['expect']> {
  const name = 'taken'
  const expect = Object.fromEntries(Object.keys(taken.expect).map((outlet) => [outlet, []]))
  const answer = await runTest(document.name, { ...document, tests: [{ name, ...taken, expect }] }, name, signal, true)
  const [result] = answer.results
  if (!result || result.status === 'error') throw new Error(said(result?.problems[0]?.message ?? result?.message ?? answer.message))
  return Object.fromEntries(result.outlets.map((outlet) => [outlet.outlet, outlet.rows as Row[]]))
}

/** Rows, columns and what comes of exactly these rows, kept ones or else the first that a source gives. Throws with the reason where they cannot be read. */
export async function takenFromPreview(document: DagDocument, nodeId: string, samples: Samples, signal: AbortSignal): Promise<Taken> {
  const taken = await previewed(document, nodeId, samples, signal)
  const isCut = Object.values(taken.expect).some((rows) => rows.length >= MOST_ROWS)
  return document.type === 'STREAMING' || isCut ? { ...taken, expect: await tested(document, taken, signal) } : taken
}

async function previewed(document: DagDocument, nodeId: string, samples: Samples, signal: AbortSignal): Promise<Taken> {
  const given: Record<string, Row[]> = {}
  const columns: Record<string, string> = {}
  for (const source of sourcesAbove(document, nodeId)) {
    const side = (await read(document, source, samples[source] ? MOST_ROWS : READ_ROWS, givenOf(samples, [source]), signal)).outputs.out
    given[source] = rowsOfSide(side)
    if (side && side.columns.length > 0) columns[source] = columnsText(side.columns)
  }
  const taken = Object.fromEntries(Object.entries(given).map(([source, rows]) => [source, { columns: columns[source] ?? '', rows }]))
  const found = await read(document, nodeId, MOST_ROWS, taken, signal)
  const isSink = familyOf(document.nodes[nodeId]?.type ?? '') === 'sink'
  if (isSink) return { given, columns, expect: { [nodeId]: rowsOfSide(found.inputs.in) } }
  const ports = shownOutputs(useEditor.getState().catalogue.get(document.nodes[nodeId]?.type ?? ''), found.outputs)
  return { given, columns, expect: Object.fromEntries(ports.map(([port, side]) => [port === 'out' ? nodeId : `${nodeId}.${port}`, rowsOfSide(side)])) }
}
