/** What the API sends, by the names of its own shapes. */

export type JobType = 'STREAMING' | 'BATCH_ROLLER' | 'SQL_TASK'
export type Status = 'SCHEDULED' | 'INITIALIZING' | 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
export type ShownStatus = Status | 'CHECKPOINTING'
export type Role = 'VIEWER' | 'OPERATOR' | 'EDITOR' | 'ADMIN'
export type TriggeredBy = 'CRON' | 'MANUAL' | 'EVENT' | 'DEPENDENCY' | 'RETRY' | 'RESTORE' | 'BACKFILL' | 'API'
type Values = Record<string, unknown>

/** A page of a list; `next` is the address of the following one. */
export interface Page<T> {
  results: T[]
  next: string | null
}

export interface Execution {
  execution_id: string
  job_name: string
  job_title: string
  job_type: JobType
  project: string
  version: number
  generation: string
  attempt: number
  status: Status
  shown_status: ShownStatus
  checkpointing: boolean
  confirmed_time: string | null
  lease_expires_at: string | null
  next_attempt_at: string | null
  create_time: string
  start_time: string | null
  end_time: string | null
  duration_ms: number | null
  processed_records: number
  written_records: number
  failed_records: number
  error_message: string
  error_stack_trace: string | null
  error_node_id: string
  error_class: string
  retry_count: number
  max_retry_times: number
  triggered_by: TriggeredBy
  restored_from_checkpoint_id: number | null
  parameters: Values
  resolved: Values
  seq: number
  worker: string
  created_by: string
  last_checkpoint_time: string | null
}

export interface ExecutionEvent {
  seq: number
  time: string
  kind: string
  actor: string
  reason: string
  attempt: number
  from_status: string
  to_status: string
  node_id: string
  detail: Values
}

export interface MetricSample {
  time: string
  rows_in: number
  rows_out: number
  rows_rejected: number
  in_per_second: number
  out_per_second: number
  batch_id: number | null
  batch_ms: number | null
  backlog: number | null
  detail: Values
}

export interface Metrics {
  resolution: number
  results: MetricSample[]
}

export interface LogLine {
  time: string | null
  level: string
  node_id: string
  message: string
}

export interface LogPage {
  results: LogLine[]
  next_offset: number
  more: boolean
  attempt: number | null
  attempts: number[]
}

export interface RejectedRow {
  id: number
  node_id: string
  batch_id: number
  ordinal: number
  reason: string
  row: string
  create_time: string
}

export interface Draft {
  revision: number
  base_version: number | null
  dirty: boolean
  update_time: string
  updated_by: string
}

export interface Schedule {
  schedule_type: 'CRON' | 'MANUAL' | 'EVENT' | 'DEPENDENCY'
  cron_expression: string
  time_zone: string
  enabled: boolean
  last_trigger_time: string | null
  next_trigger_time: string | null
  words: string
  next_times: string[]
}

export interface RecentExecution {
  execution_id: string
  status: Status
}

export interface Job {
  job_name: string
  job_uid: string
  title: string
  description: string
  job_type: JobType
  version: number | null
  enabled: boolean
  project: string
  create_time: string
  update_time: string
  created_by: string
  updated_by: string
  draft: Draft | null
  schedule: Schedule | null
  latest_execution: Execution | null
  recent: RecentExecution[]
  in_per_second: number | null
  out_per_second: number | null
  backlog: number | null
}

export interface JobConfig {
  config_key: string
  config_value: string
  config_type: 'STRING' | 'INT' | 'BOOLEAN' | 'JSON'
  description: string
  update_time: string
}

export interface ConfigKey {
  config_key: string
  config_type: JobConfig['config_type']
  help: string
  choices: string[]
}

export interface Configs {
  results: JobConfig[]
  known: ConfigKey[]
}

export interface Checkpoint {
  id: number
  execution_id: string
  job_name: string
  job_title: string
  generation: string
  checkpoint_id: number
  checkpoint_type: 'STREAMING' | 'ROLLER' | 'SQL_TASK'
  status: 'PENDING' | 'COMPLETED' | 'FAILED' | 'EXPIRED'
  origin: 'INTERVAL' | 'ROWS' | 'PAGE' | 'MANUAL' | 'STOP'
  requested_by: string
  label: string
  pinned: boolean
  is_savepoint: boolean
  attempt: number
  state_data: Values
  storage_path: string
  storage_size_bytes: number
  exclusive_bytes: number
  file_count: number
  phases: Record<string, unknown>
  queries: Record<string, unknown>
  operators: Record<string, unknown>[]
  failure_reason: string
  create_time: string
  complete_time: string | null
  delete_time: string | null
  deleted_by: string
  duration_ms: number | null
  restorable: boolean
  restorable_reason: string
}

export interface Connection {
  id: number
  name: string
  kind: string
  project: string
  description: string
  config: Values
  secrets: Record<string, boolean>
  test_time: string | null
  test_ok: boolean | null
  test_message: string
  used_by: string[]
  create_time: string
  update_time: string
  updated_by: string
}

export interface ConnectionTest {
  ok: boolean
  steps: { name: string; ok: boolean; message: string; milliseconds: number }[]
}

export interface ConnectionKind {
  kind: string
  title: string
  icon: string
  schema: Values
  secrets: Record<string, string>
}

export interface Attention {
  kind: 'FAILED' | 'UNCONFIRMED' | 'RETRYING' | 'NO_CHECKPOINT'
  execution: Execution
  node_id: string
  node_name: string
  first_error_line: string
  since: string
}

export interface Lane {
  job_name: string
  title: string
  spans: { from: string; to: string | null; status: Status; execution_id: string }[]
  in_per_second: number | null
}

export interface NextStart {
  job_name: string
  title: string
  next_trigger_time: string
  words: string
}

export interface Overview {
  jobs: number
  running: number
  failing: number
  scheduled: number
  in_per_second: number
  out_per_second: number
  rejected_per_second: number
  attention: Attention[]
  chart: { times: string[]; in: number[]; out: number[] }
  lanes: Lane[]
  next_starts: NextStart[]
}

export interface Me {
  username: string
  initials: string
  admin: boolean
  projects: { slug: string; title: string; role: Role }[]
  embedded: boolean
}

export interface SearchHit {
  kind: 'job' | 'node' | 'execution' | 'checkpoint'
  title: string
  detail: string
  path: string
}
