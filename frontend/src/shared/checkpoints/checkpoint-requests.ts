import { request } from '../../api/request'
import type { Checkpoint, CleanupItem, Precheck } from '../../api/types'

const path = (id: number) => `/api/checkpoints/${id}`

export const changeCheckpoint = (id: number, change: { label?: string; pinned?: boolean; is_savepoint?: boolean }) => request<Checkpoint>('PATCH', path(id), change)
export const deleteCheckpoint = (id: number) => request<undefined>('DELETE', path(id))
export const precheckRestore = (id: number) => request<Precheck>('GET', `${path(id)}/precheck`)
export const restoreCheckpoint = (id: number) => request<{ execution_id: string }>('POST', `${path(id)}/restore`, {})
export const cleanUp = (dryRun: boolean) => request<{ results: CleanupItem[] }>('POST', '/api/checkpoints/cleanup', { dry_run: dryRun })
