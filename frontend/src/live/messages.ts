import type { components } from '../api/schema.gen'

/** What the sockets say: a closed set, each with totals; the shapes are generated from the API's own description. */
type Shapes = components['schemas']

export type NodeCounts = Shapes['NodeMetrics']
export type MetricsMessage = Shapes['MetricsMessage']
export type ExecutionSnapshot = Shapes['SnapshotMessage']
export type EventMessage = Shapes['EventMessage']
export type RatesMessage = Shapes['OverviewRates']
export type ExecutionMessage = Shapes['ExecutionMessage']
export type OverviewMessage = Shapes['OverviewMessage']
