import type { Catalogue, DagDocument, NodeType, Port } from './document'

export const port = (name: string, kind: Port['kind'], many = false): Port => ({ name, kind, required: kind !== 'errors', many })

export const nodeType = (type: string, ports: Port[], schema: Record<string, unknown> = {}): NodeType => ({
  type,
  version: 1,
  family: type.split('.')[0] as NodeType['family'],
  title: type.split('.')[1] ?? type,
  help: '',
  icon: 'file',
  ports,
  ports_field: '',
  schema,
  job_types: ['STREAMING'],
  connection_kinds: [],
  available: true,
  unavailable_reason: '',
  boundedness: '',
  guarantee: '',
  stateful: false,
  rejects_rows: false,
  real_time: type === 'flow.filter_rows',
})

export const SOURCE = nodeType('source.file', [port('out', 'output'), port('errors', 'errors')])
export const FILTER = nodeType('flow.filter_rows', [port('in', 'input'), port('out', 'output')], {
  required: ['condition'],
  properties: { condition: { type: 'string' }, note: { type: 'string', default: 'none' } },
})
export const UNION = nodeType('flow.union', [port('in', 'input', true), port('out', 'output')])
export const SINK = nodeType('sink.print', [port('in', 'input')])
export const catalogue: Catalogue = new Map([SOURCE, FILTER, UNION, SINK].map((type) => [type.type, type]))

const node = (type: NodeType, name: string) => ({ type: type.type, type_version: 1, name, config: {} })

/** source → filter → sink */
export const chain = (): DagDocument => ({
  schema_version: 1,
  name: 'chain',
  type: 'STREAMING',
  parameters: {},
  settings: {},
  nodes: { a: node(SOURCE, 'A'), b: node(FILTER, 'B'), c: node(SINK, 'C') },
  edges: { e1: { from: ['a', 'out'], to: ['b', 'in'] }, e2: { from: ['b', 'out'], to: ['c', 'in'] } },
})
