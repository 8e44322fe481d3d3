import type { Checkpoint, Execution, ExecutionEvent } from '../api/types'
import { confirmedAt } from './confirmation'
import type { EventMessage, ExecutionMessage, MetricsMessage } from './messages'

export interface Printed {
  nodeId: string
  batchId: number
  row: string
}

export interface Progress {
  done: number
  total: number | null
  unit: string
}

/** One execution as the socket has told it so far. `seq` is the number of the latest event in it. */
export interface ExecutionState {
  seq: number
  execution: Execution
  /** Newest first. */
  events: ExecutionEvent[]
  /** Newest first. */
  checkpoints: Checkpoint[]
  metrics: MetricsMessage | null
  /** Oldest first, one a second. */
  series: MetricsMessage[]
  /** Newest last. */
  printed: Printed[]
  progress: Record<string, Progress>
}

export const EVENTS_KEPT = 500
const CHECKPOINTS_KEPT = 200
const SERIES_KEPT = 3600
const PRINTED_KEPT = 500

export type Applied = { kind: 'state'; state: ExecutionState } | { kind: 'ignored' } | { kind: 'gap' }

/** Take one message into the state. A number that leaves some out is a gap: whoever listens reads anew. */
export function applyExecutionMessage(state: ExecutionState | null, message: ExecutionMessage): Applied {
  if (message.type === 'snapshot') return { kind: 'state', state: fromSnapshot(state, message) }
  if (!state) return { kind: 'gap' }
  switch (message.type) {
    case 'event':
      return applyEvent(state, message)
    case 'metrics':
      return { kind: 'state', state: { ...state, metrics: message, series: withSample(state.series, message), execution: withTotals(state.execution, message) } }
    case 'checkpoint':
      return { kind: 'state', state: { ...state, checkpoints: withCheckpoint(state.checkpoints, message.checkpoint) } }
    case 'printed': {
      const fresh = message.rows.map((row) => ({ nodeId: message.node_id, batchId: message.batch_id, row }))
      return { kind: 'state', state: { ...state, printed: [...state.printed, ...fresh].slice(-PRINTED_KEPT) } }
    }
    case 'progress':
      return { kind: 'state', state: { ...state, progress: { ...state.progress, [message.node_id]: { done: message.done, total: message.total, unit: message.unit } } } }
    default:
      return { kind: 'ignored' }
  }
}

function fromSnapshot(state: ExecutionState | null, message: Extract<ExecutionMessage, { type: 'snapshot' }>): ExecutionState {
  const same = state?.execution.execution_id === message.execution.execution_id
  const series = same && state ? state.series : []
  return {
    seq: message.seq,
    execution: message.execution,
    events: [...message.events].sort((one, other) => other.seq - one.seq),
    checkpoints: [...message.checkpoints].sort(newestCheckpoint),
    metrics: message.metrics,
    series: message.metrics ? withSample(series, message.metrics) : series,
    printed: same && state ? state.printed : [],
    progress: same && state ? state.progress : {},
  }
}

function applyEvent(state: ExecutionState, message: EventMessage): Applied {
  if (message.seq <= state.seq) return { kind: 'ignored' }
  if (message.seq > state.seq + 1) return { kind: 'gap' }
  const events = [message.event, ...state.events].slice(0, EVENTS_KEPT)
  const checkpoints = message.checkpoint ? withCheckpoint(state.checkpoints, message.checkpoint) : state.checkpoints
  return { kind: 'state', state: { ...state, seq: message.seq, execution: message.execution, events, checkpoints } }
}

const newestCheckpoint = (one: Checkpoint, other: Checkpoint) => other.checkpoint_id - one.checkpoint_id

function withCheckpoint(checkpoints: Checkpoint[], fresh: Checkpoint): Checkpoint[] {
  return [fresh, ...checkpoints.filter((one) => one.id !== fresh.id)].sort(newestCheckpoint).slice(0, CHECKPOINTS_KEPT)
}

const secondOf = (time: string) => Math.floor(Date.parse(time) / 1000)

/** One sample a second: a later one of the same second takes its place. */
function withSample(series: MetricsMessage[], fresh: MetricsMessage): MetricsMessage[] {
  const last = series.at(-1)
  if (!last) return [fresh]
  const apart = secondOf(fresh.time) - secondOf(last.time)
  if (apart < 0) return series
  return apart === 0 ? [...series.slice(0, -1), fresh] : [...series, fresh].slice(-SERIES_KEPT)
}

/** Totals never go back: a sample sent before the latest event must not undo it. Who measures is alive, which confirms the state. */
function withTotals(execution: Execution, sample: MetricsMessage): Execution {
  return {
    ...confirmedAt(execution, sample.time),
    processed_records: Math.max(execution.processed_records, sample.rows_in),
    written_records: Math.max(execution.written_records, sample.rows_out),
    failed_records: Math.max(execution.failed_records, sample.rows_rejected),
    dropped_records: Math.max(execution.dropped_records, sample.dropped),
    buffer_size: sample.buffer_size,
    backpressure_status: sample.backpressure_status,
  }
}
