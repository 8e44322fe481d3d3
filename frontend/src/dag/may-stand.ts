import type { DagDocument, NodeType } from './document'

/** A stream whose rows are written as they come, without waiting for a batch. */
export const isRealTime = (document: DagDocument) => document.type === 'STREAMING' && document.settings.trigger === 'real_time'

/** A stream can look things up in what it could not read as a stream. */
const isTableOfStream = (document: DagDocument, type: NodeType) => document.type === 'STREAMING' && type.family === 'source' && type.boundedness === 'bounded'

/** What keeps a node of this type out of the document: the kind of job, or that the job runs in real time. */
export function unfitFor(document: DagDocument, type: NodeType): 'jobType' | 'realTime' | null {
  if (!type.job_types.includes(document.type) && !isTableOfStream(document, type)) return 'jobType'
  return isRealTime(document) && !type.real_time ? 'realTime' : null
}
