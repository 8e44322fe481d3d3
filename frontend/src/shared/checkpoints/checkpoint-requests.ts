import { request } from '../../api/request'
import type { Checkpoint, CheckpointComparison, CheckpointDetailFacts, CheckpointFiles, CheckpointHistory, CleanupItem, Precheck, StateOperator, StateRows } from '../../api/types'

const path = (id: number) => `/api/checkpoints/${id}`

export const changeCheckpoint = (id: number, change: { label?: string; pinned?: boolean; is_savepoint?: boolean }) => request<Checkpoint>('PATCH', path(id), change)
export const readCheckpoint = (id: number) => request<CheckpointDetailFacts>('GET', path(id))
export const readFiles = (id: number, q: string, offset: number, rows: number, signal: AbortSignal) => request<CheckpointFiles>('GET', `${path(id)}/files?${new URLSearchParams({ q, offset: String(offset), rows: String(rows) })}`, undefined, {}, signal)
export const deleteCheckpoint = (id: number) => request<undefined>('DELETE', path(id))
/** `version`: "current", or "" for the one it was taken of. */
export const precheckRestore = (id: number, version: string) => request<Precheck>('GET', `${path(id)}/precheck${version && `?version=${version}`}`)
export const restoreCheckpoint = (id: number, how: { version: number | undefined; allow_non_restored_state: boolean; roll_back: boolean }) => request<{ execution_id: string }>('POST', `${path(id)}/restore`, how)
export const cleanUp = (dryRun: boolean) => request<{ results: CleanupItem[] }>('POST', '/api/checkpoints/cleanup', { dry_run: dryRun })

/** One part of what one operator remembers, and the text that stands in its keys. */
export interface StatePlace {
  query: string
  operator: number
  part: string
  q: string
}

const asked = ({ operator, ...place }: StatePlace) => new URLSearchParams({ ...place, operator: String(operator) })

export const readState = (id: number, signal: AbortSignal) => request<{ operators: StateOperator[] }>('GET', `${path(id)}/state`, undefined, {}, signal)
export const readStateRows = (id: number, place: StatePlace, offset: number, rows: number, signal: AbortSignal) => request<StateRows>('GET', `${path(id)}/state/rows?${asked(place)}&offset=${offset}&rows=${rows}`, undefined, {}, signal)
export const stateFile = (id: number, place: StatePlace) => `${path(id)}/state/file?${asked(place)}`
export const readHistory = (executionId: string) => request<CheckpointHistory>('GET', `/api/executions/${executionId}/checkpoint-history`)
/** How many an execution has by status, whatever was read of them. */
export const readCounts = async (executionId: string) => (await request<CheckpointHistory>('GET', `/api/executions/${executionId}/checkpoint-history?points=0`)).counts
export const compareCheckpoints = (first: number, second: number) => request<CheckpointComparison>('GET', `${path(first)}/compare/${second}`)
