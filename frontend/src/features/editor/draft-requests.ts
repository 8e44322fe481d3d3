import type { Column, DagDocument, Layout, NodeType, Problem, Row, Schemas } from '../../dag/document'
import { wholeLayout } from '../../dag/marks'
import { wholeDocument } from '../../dag/whole-document'
import { askDriver } from '../../api/ask-driver'
import { ApiError, request } from '../../api/request'
import type { Delivery, PipelineTests, Preview, Script } from '../../api/types'
import type { Role } from '../../api/use-may'
import { useEditor } from './editor-store'

export interface Draft {
  document: DagDocument
  layout: Partial<Layout>
  revision: number
  problems: Problem[]
  delivery: Delivery | null
}

/** `columns`: as SQL writes them, or one by one; "" lets the source tell them, or the rows show them. */
export interface SampleRows {
  columns: string | Column[]
  rows: Row[]
}

export interface JobHead {
  job_name: string
  job_uid: string
  title: string
  version: number | null
  project: string
  role: Role
}

/** Somebody else saved first. */
export class DraftConflict extends Error {
  constructor(
    readonly by: string,
    readonly revision: number,
  ) {
    super(`revision ${revision} by ${by}`)
  }
}

const job = (name: string) => `/api/jobs/${encodeURIComponent(name)}`

export const readJob = (name: string) => request<JobHead>('GET', job(name))

export async function readDraft(name: string): Promise<Draft> {
  const draft = await request<Draft>('GET', `${job(name)}/draft`)
  return { ...draft, document: wholeDocument(draft.document, name) }
}

export const readNodeTypes = async () => (await request<{ results: NodeType[] }>('GET', '/api/node-types')).results

/** Sends what goes on from `revision` of the draft. Throws DraftConflict where it is another by now. */
async function sendOver<T>(revision: number, method: string, path: string, body: unknown): Promise<T> {
  try {
    return await request<T>(method, path, body, { 'If-Match': `"${revision}"` })
  } catch (error) {
    const conflict = error instanceof ApiError && error.status === 409 ? (error.body.conflict as { updated_by?: string; revision: number } | undefined) : undefined
    if (conflict) throw new DraftConflict(conflict.updated_by ?? '', conflict.revision)
    throw error
  }
}

export const saveDraft = (name: string, document: DagDocument, revision: number) =>
  sendOver<Draft>(revision, 'PUT', `${job(name)}/draft`, { document })

export const saveLayout = (name: string, layout: Layout) => request<unknown>('PUT', `${job(name)}/layout`, layout)

/** `analysed`: whether Spark looked at it; `analysis` says why not. */
export interface Analysis {
  problems: Problem[]
  schemas: Schemas
  analysed: boolean
  analysis: string
}

export const analyseDocument = (document: DagDocument, signal: AbortSignal) => askDriver<Analysis>('/api/jobs/validate', { document }, signal)

/** `samples`: rows to take instead of reading these sources. */
export const previewNode = (document: DagDocument, nodeId: string, rows: number, samples: Record<string, SampleRows>, signal?: AbortSignal) =>
  askDriver<Preview>('/api/jobs/preview', { document, node_id: nodeId, rows, samples }, signal)

export const writeScript = (document: DagDocument, signal: AbortSignal) => request<Script>('POST', '/api/jobs/script', { document }, {}, signal)

/** `rows`: whether the result holds all rows that come out. */
export const runTest = (name: string, document: DagDocument, test: string, signal: AbortSignal, rows = false) =>
  askDriver<PipelineTests>(`${job(name)}/tests`, { document, test, rows }, signal)

export const publishDraft = (name: string, comment: string, revision: number) =>
  sendOver<unknown>(revision, 'POST', `${job(name)}/publish`, { comment })

/** What the server has comes in place of the drawing, which Undo brings back. */
export async function takeTheirs(): Promise<void> {
  const { jobName, takeOver } = useEditor.getState()
  const draft = await readDraft(jobName)
  if (useEditor.getState().jobName !== jobName) return
  takeOver({ document: draft.document, layout: wholeLayout(draft.layout) }, draft.revision, draft.problems, draft.delivery)
}

const LONGEST_STEM = 190
const MOST_COPIES = 50

/** The drawing as a draft of a new job in the same project, by the first name that is free; gives this name. */
export async function copyDrawing(): Promise<string> {
  const { jobName, history } = useEditor.getState()
  const { document, layout } = history.present
  const { project } = await readJob(jobName)
  for (let number = 1; ; number += 1) {
    const name = `${jobName.slice(0, LONGEST_STEM)}-copy${number > 1 ? `-${number}` : ''}`
    try {
      await request('POST', '/api/jobs', { ...document, layout, name, project, publish: false })
      return name
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'job.name_taken') || number >= MOST_COPIES) throw error
    }
  }
}
