import type { Problem } from '../dag/document'
import { request, send } from './request'
import type { Imported, Job, ProposedConnection } from './types'

export interface ImportOutcome {
  file: string
  /** The name of the job that was made; null where none was. */
  job: string | null
  /** Where it was made. */
  project: string
  problems: readonly Problem[]
  /** What its addresses need, to be created by a person. */
  connections: readonly ProposedConnection[]
  error: string
}

/** A file becomes a draft in `project`, with its problems for the editor to mend; one that cannot be read says why. '' lets the server choose the project. */
export async function importJob(file: File, project: string): Promise<ImportOutcome> {
  const outcome: ImportOutcome = { file: file.name, job: null, project: '', problems: [], connections: [], error: '' }
  try {
    const text = await file.text()
    const { document, problems, connections } = await send<Imported>('POST', '/api/jobs/import', text, 'application/octet-stream')
    if (!document) return { ...outcome, problems }
    const made = await request<Job>('POST', '/api/jobs', { ...document, project, publish: false })
    return { ...outcome, job: made.job_name, project: made.project, problems, connections }
  } catch (error) {
    return { ...outcome, error: (error as Error).message }
  }
}
