import type { components } from './schema.gen'

/** What the API sends; the shapes are generated from its own description by `npm run api-types`. */
type Shapes = components['schemas']

/** A page of a list; `next` is the address of the following one. */
export interface Page<T> {
  results: T[]
  next: string | null
}

export type Delivery = Shapes['DeliveryOut']
export type Execution = Shapes['ExecutionOut']
export type ExecutionEvent = Shapes['EventOut']
export type MetricSample = Shapes['MetricSampleOut']
export type Metrics = Shapes['MetricsOut']
export type LogLine = Shapes['LogLine']
export type LogPage = Shapes['LogPage']
export type RejectedRow = Shapes['RejectedRowOut']
export type Draft = Shapes['DraftSummary']
export type Schedule = Shapes['ScheduleOut']
export type ScheduleTimes = Shapes['ScheduleTimesOut']
export type RecentExecution = Shapes['RecentExecution']
export type Job = Shapes['JobOut']
export type JobDetail = Shapes['JobDetailOut']
export type JobConfig = Shapes['ConfigOut']
export type ConfigKey = Shapes['ConfigKeyOut']
export type Configs = Shapes['ConfigsOut']
export type Checkpoint = Shapes['CheckpointOut']
export type CheckpointUsage = Shapes['CheckpointUsageOut']
export type Precheck = Shapes['PrecheckOut']
export type GraphChange = Shapes['ChangeOut']
export type CleanupItem = Shapes['CleanupItem']
export type Connection = Shapes['ConnectionOut']
export type ConnectionHealth = Shapes['ConnectionHealthOut']
export type ConnectionTest = Shapes['ConnectionTestOut']
export type ConnectionKind = Shapes['ConnectionKindOut']
export type Attention = Shapes['AttentionOut']
export type Lane = Shapes['LaneOut']
export type NextStart = Shapes['NextStartOut']
export type Overview = Shapes['OverviewOut']
export type Me = Shapes['MeOut']
export type SearchHit = Shapes['SearchHit']
export type Preview = Shapes['PreviewOut']
export type Script = Shapes['ScriptOut']
export type PreviewSide = Shapes['PreviewSide']
export type PipelineTests = Shapes['PipelineTestsOut']
export type PipelineTestResult = Shapes['PipelineTestResultOut']
export type RowDifferences = Shapes['RowDifferencesOut']
export type Token = Shapes['TokenOut']
export type TokenMade = Shapes['TokenMadeOut']

export type JobType = Job['job_type']
export type Status = Execution['status']
