import type { Checkpoint, ConnectionHealth, Execution, ExecutionEvent } from '../api/types'
import type { EventMessage, ExecutionSnapshot, MetricsMessage } from './messages'

/** Small whole things for tests, changed where a test cares. */

export const execution = (change: Partial<Execution> = {}): Execution => ({
  execution_id: 'e1', job_name: 'orders', job_title: 'Orders', job_type: 'STREAMING', project: 'default', version: 1, generation: 'g', attempt: 1, first_attempt: 1, status: 'RUNNING', shown_status: 'RUNNING', checkpointing: false,
  confirmed_time: null, lease_expires_at: null, next_attempt_at: null, create_time: '2026-11-21T10:00:00Z', start_time: null, end_time: null, resume_time: null, duration_ms: null, processed_records: 0, written_records: 0, failed_records: 0,
  error_message: '', error_stack_trace: null, error_node_id: '', error_class: '', waiting_for: '', waiting_node_id: '', waiting_since: null, buffer_size: null, backpressure_status: '', dropped_records: 0, retry_count: 0, max_retry_times: 3, triggered_by: 'MANUAL', restored_from_checkpoint_id: null, parameters: {}, resolved: {}, seq: 1, storage_host: '', checkpoint_path: '', worker: '', created_by: '', last_checkpoint_time: null, checkpoint_overdue: null, checkpoint_storage_warning: null, delivery: null,
  ...change,
})

export const connectionHealth = (change: Partial<ConnectionHealth> = {}): ConnectionHealth => ({ id: 1, name: 'main', kind: 'mqtt', project: 'default', test_time: '2026-11-21T10:00:00Z', test_ok: true, test_step: '', test_message: '', failing_since: null, jobs_using: 1, update_time: '2026-11-21T09:00:00Z', ...change })

export const event = (seq: number, change: Partial<ExecutionEvent> = {}): ExecutionEvent => ({ seq, time: '2026-11-21T10:00:00Z', kind: 'notice', actor: '', reason: '', attempt: 1, from_status: '', to_status: '', node_id: '', detail: {}, ...change })

export const checkpoint = (number: number, change: Partial<Checkpoint> = {}): Checkpoint => ({
  id: number * 10, execution_id: 'e1', job_name: 'orders', job_title: 'Orders', project: 'default', generation: 'g', checkpoint_id: number, checkpoint_type: 'STREAMING', status: 'COMPLETED', origin: 'INTERVAL', requested_by: '', label: '', pinned: false, is_savepoint: false, attempt: 1, state_data: {},
  rows_read: null, backlog: null, storage: 'local', storage_path: '', storage_size_bytes: 0, exclusive_bytes: 0, file_count: 0, phases: {}, queries: {}, operators: [], failure_reason: '', create_time: '2026-11-21T10:00:00Z', complete_time: null, delete_time: null, deleted_by: '', duration_ms: null, restorable: true, restorable_reason: '', source: null,
  ...change,
})

export const snapshot = (seq: number, change: Partial<ExecutionSnapshot> = {}): ExecutionSnapshot => ({ type: 'snapshot', seq, execution: execution({ seq }), events: [event(seq)], checkpoints: [], metrics: null, ...change })

export const eventMessage = (seq: number, change: Partial<EventMessage> = {}): EventMessage => ({ type: 'event', seq, event: event(seq), execution: execution({ seq }), checkpoint: null, ...change })

export const metrics = (time: string, change: Partial<MetricsMessage> = {}): MetricsMessage => ({
  type: 'metrics', as_of_seq: 1, time, rows_in: 0, rows_out: 0, rows_rejected: 0, in_per_second: 0, out_per_second: 0, processed_per_second: 0, rejected_per_second: 0, batch_id: null, batch_ms: null, durations_ms: {}, under_way: null, backlog: null, buffer_size: null, backpressure_status: '', dropped: 0, watermark: '', state_rows: 0, state_bytes: 0, nodes: {}, nodes_written: {},
  ...change,
})
