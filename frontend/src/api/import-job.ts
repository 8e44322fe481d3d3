import type { Problem } from '../dag/document'
import { request, send } from './request'
import type { Imported, Job, ProposedConnection } from './types'

export interface ImportOutcome {
  file: string
  /** The name of the job that was made; null where none was. */
  job: string | null
  problems: readonly Problem[]
  /** What its addresses need, to be created by a person. */
  connections: readonly ProposedConnection[]
  error: string
}

/** A file becomes a draft, with its problems for the editor to mend; one that cannot be read says why. */
export async function importJob(file: File): Promise<ImportOutcome> {
  const outcome: ImportOutcome = { file: file.name, job: null, problems: [], connections: [], error: '' }
  try {
    const text = await file.text()
    const { document, problems, connections } = await send<Imported>('POST', '/api/jobs/import', text, 'application/octet-stream')
    if (!document) return { ...outcome, problems }
    const made = await request<Job>('POST', '/api/jobs', { ...document, publish: false })
    return { ...outcome, job: made.job_name, problems, connections }
  } catch (error) {
    return { ...outcome, error: (error as Error).message }
  }
}
