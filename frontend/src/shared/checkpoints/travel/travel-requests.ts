import { withQuery } from '../../../api/pages'
import { request } from '../../../api/request'
import type { Checkpoint, PositionsEdited, PositionWanted, SourcePosition } from '../../../api/types'
import { upload } from '../../../api/upload'

export const archiveAddress = (id: number) => `/api/checkpoints/${id}/archive`
const arrivals = (job: string) => `/api/jobs/${encodeURIComponent(job)}/checkpoints/import`

export const importArchive = (job: string, file: File, onProgress: (share: number) => void, signal: AbortSignal) => upload<Checkpoint>(arrivals(job), file, onProgress, signal)
export const copyCheckpoint = (job: string, id: number) => request<Checkpoint>('POST', arrivals(job), { checkpoint: id })
/** The newest complete ones of a job. */
export const completeOf = async (job: string) => (await request<{ results: Checkpoint[] }>('GET', withQuery('/api/checkpoints', { job, status: 'COMPLETED' }))).results
/** The newest savepoints of a job, also those that cannot be restored, and why. */
export const savepointsOf = async (job: string) => (await request<{ results: Checkpoint[] }>('GET', withQuery('/api/checkpoints', { job, status: 'COMPLETED', is_savepoint: 'true' }))).results
/** Of a project, or "" of all. */
export const jobNames = async (q: string, project = '') => (await request<{ results: { job_name: string }[] }>('GET', withQuery('/api/jobs', { q, project, page_size: '20' }))).results.map((one) => one.job_name)

export const sourcePositions = async (id: number) => (await request<{ results: SourcePosition[] }>('GET', `/api/checkpoints/${id}/positions`)).results
/** Without `keep` it only tells what would be. */
export const editPositions = (id: number, sources: Record<string, PositionWanted>, keep: boolean) => request<PositionsEdited>('POST', `/api/checkpoints/${id}/positions`, { sources, dry_run: !keep })
