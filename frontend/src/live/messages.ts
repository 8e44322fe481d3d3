import type { Checkpoint, Execution, ExecutionEvent } from '../api/types'

/** What the sockets say: a closed set, each with totals. */

export interface NodeCounts {
  in: number | null
  out: number | null
  rejected: number
  in_per_second: number | null
  out_per_second: number | null
}

export interface MetricsMessage {
  type: 'metrics'
  as_of_seq: number
  time: string
  rows_in: number
  rows_out: number
  rows_rejected: number
  in_per_second: number
  out_per_second: number
  processed_per_second: number
  rejected_per_second: number
  batch_id: number | null
  batch_ms: number | null
  durations_ms: Record<string, number>
  backlog: number | null
  watermark: string
  state_rows: number
  state_bytes: number
  nodes: Record<string, NodeCounts>
}

export interface ExecutionSnapshot {
  type: 'snapshot'
  seq: number
  execution: Execution
  events: ExecutionEvent[]
  checkpoints: Checkpoint[]
  metrics: MetricsMessage | null
}

export interface EventMessage {
  type: 'event'
  seq: number
  event: ExecutionEvent
  execution: Execution
  checkpoint: Checkpoint | null
}

export interface PrintedMessage {
  type: 'printed'
  node_id: string
  batch_id: number
  rows: string[]
}

export interface ProgressMessage {
  type: 'progress'
  node_id: string
  done: number
  total: number | null
  unit: string
}

export type ExecutionMessage = ExecutionSnapshot | EventMessage | MetricsMessage | PrintedMessage | ProgressMessage

export interface RatesMessage {
  type: 'rates'
  time: string
  execution_id: string
  job_name: string
  in_per_second: number
  out_per_second: number
  rejected_per_second: number
  backlog: number | null
}

export type OverviewMessage =
  | { type: 'snapshot'; number: number; executions: Execution[] }
  | { type: 'execution'; number: number; execution: Execution }
  | RatesMessage
