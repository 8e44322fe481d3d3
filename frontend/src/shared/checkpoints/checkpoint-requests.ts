import { request } from '../../api/request'
import type { Checkpoint, CheckpointComparison, CheckpointDetailFacts, CheckpointFiles, CheckpointHistory, Precheck, StateOperator, StateRows } from '../../api/types'

const path = (id: number) => `/api/checkpoints/${id}`

export const changeCheckpoint = (id: number, change: { label?: string; pinned?: boolean; is_savepoint?: boolean }) => request<Checkpoint>('PATCH', path(id), change)
export const readCheckpoint = (id: number) => request<CheckpointDetailFacts>('GET', path(id))
export const readFiles = (id: number, q: string, offset: number, rows: number, signal: AbortSignal) => request<CheckpointFiles>('GET', `${path(id)}/files?${new URLSearchParams({ q, offset: String(offset), rows: String(rows) })}`, undefined, {}, signal)
/** `version`: "current", or "" for the one it was taken of. */
export const precheckRestore = (id: number, version: string) => request<Precheck>('GET', `${path(id)}/precheck${version && `?version=${version}`}`)
export const restoreCheckpoint = (id: number, how: { version: number | undefined; allow_non_restored_state: boolean; roll_back: boolean }) => request<{ execution_id: string }>('POST', `${path(id)}/restore`, how)

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
