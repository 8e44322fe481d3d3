import type { Sample } from '../../../api/types'
import { ApiError, request } from '../../../api/request'
import type { SampleRows } from '../draft-requests'
import type { Samples } from './sample-rows'

/** Somebody else changed the rows, or dropped them (`revision` "" then). */
export class SampleConflict extends Error {
  constructor(
    message: string,
    readonly by: string,
    readonly revision: string,
  ) {
    super(message)
  }
}

/** `taken_at`: when the source gave them, or a person wrote them; now, unless it is said. */
export interface RowsToKeep extends SampleRows {
  taken_at?: string
}

const address = (job: string, nodeId = '') => `/api/jobs/${encodeURIComponent(job)}/draft/samples${nodeId && `/${nodeId}`}`

/** Only over the rows that were seen; "" where there were none. */
const condition = (seen: string): Record<string, string> => (seen ? { 'If-Match': `"${seen}"` } : { 'If-None-Match': '*' })

async function guarded<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const conflict = error instanceof ApiError && error.status === 409 ? (error.body.conflict as { updated_by: string; revision: string } | undefined) : undefined
    if (conflict) throw new SampleConflict((error as Error).message, conflict.updated_by, conflict.revision)
    throw error
  }
}

export const readSamples = async (job: string): Promise<Samples> => (await request<{ samples: Record<string, Sample> }>('GET', address(job))).samples

export const keepSample = (job: string, nodeId: string, sample: RowsToKeep, byHand: boolean, seen: string): Promise<Sample> => guarded(request<Sample>('PUT', address(job, nodeId), { ...sample, by_hand: byHand }, condition(seen)))

export const dropSample = (job: string, nodeId: string, seen: string): Promise<unknown> => guarded(request<unknown>('DELETE', address(job, nodeId), undefined, condition(seen)))
