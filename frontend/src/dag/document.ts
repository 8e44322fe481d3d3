/** The DAG document as the browser edits it: plain data and pure changes. Nothing here knows React or the server. */

export type JobType = 'STREAMING' | 'BATCH_ROLLER' | 'SQL_TASK'
export type Family = 'source' | 'flow' | 'sink'
export type PortKind = 'input' | 'reference' | 'output' | 'errors'
/** Integers beyond 2^53 are bigints: see exact-json. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json }
export type Config = Record<string, Json>
export type Endpoint = [nodeId: string, port: string]

export interface DagNode {
  type: string
  type_version: number
  name: string
  config: Config
}

export interface DagEdge {
  from: Endpoint
  to: Endpoint
}

export type Row = Record<string, Json>

/** Rows, or in a stream a list of micro-batches. */
export type GivenRows = Row[] | Row[][]

/** Rows for the sources and those expected at a sink, behind a flow ("id") or at one of its ports ("id.port"). */
export interface PipelineTest {
  name: string
  given?: Record<string, GivenRows>
  columns?: Record<string, string>
  expect?: Record<string, Row[]>
  parameters?: Record<string, Json>
  /** When each micro-batch comes: a time, or how long after the one before. */
  clock?: string[]
  ordered?: boolean
  only_columns?: boolean
}

export interface DagDocument {
  schema_version: number
  name: string
  type: JobType
  title?: string
  description?: string
  parameters: Record<string, Json>
  nodes: Record<string, DagNode>
  edges: Record<string, DagEdge>
  settings: Record<string, Json>
  tests?: PipelineTest[]
}

export interface Position {
  x: number
  y: number
}

/** Written beside the nodes. */
export interface Note extends Position {
  id: string
  text: string
  width: number
  height: number
}

/** A titled frame behind nodes: those whose middle lies in it belong to it. */
export interface Group extends Position {
  id: string
  title: string
  width: number
  height: number
}

/** Where things are drawn: no part of a version. */
export interface Layout {
  positions: Record<string, Position>
  notes: Note[]
  groups: Group[]
}

export interface Port {
  name: string
  kind: PortKind
  required: boolean
  many: boolean
}

/** What the canvas needs to know of a node type. */
export interface NodeType {
  type: string
  version: number
  family: Family
  title: string
  help: string
  icon: string
  ports: Port[]
  /** A list in the config: the `name` of each of its rows is one more output port. */
  ports_field: string
  schema: Record<string, unknown>
  job_types: string[]
  connection_kinds: string[]
  available: boolean
  unavailable_reason: string
  boundedness: string
  guarantee: string
  stateful: boolean
  rejects_rows: boolean
  real_time: boolean
}

export type Catalogue = ReadonlyMap<string, NodeType>

export interface Problem {
  severity: 'error' | 'warning'
  code: string
  node_id?: string | null
  edge_id?: string | null
  pointer: string
  message: string
}

export interface Column {
  name: string
  type: string
  nullable?: boolean
}

/** Node id → port → columns. */
export type Schemas = Record<string, Record<string, Column[]>>

/** Whether both do the same with the same rows, whatever their tests and titles are. Parts that were not changed are the same objects. */
export const isSameLogic = (one: DagDocument, other: DagDocument) =>
  one.nodes === other.nodes && one.edges === other.edges && one.settings === other.settings && one.parameters === other.parameters && one.type === other.type

export const isInput = (port: Port) => port.kind === 'input' || port.kind === 'reference'

/** The ports of a node as its config stands: those that its rows name come before the other outputs. */
export function portsOf(node: DagNode | undefined, type: NodeType | undefined): Port[] {
  if (!type?.ports_field) return type?.ports ?? []
  const rows = node?.config[type.ports_field]
  const declared = new Set(type.ports.map((port) => port.name))
  const names = (Array.isArray(rows) ? rows : []).map((row: unknown) => (row as { name?: unknown } | null)?.name)
  const named = new Set(names.filter((name): name is string => typeof name === 'string' && name !== '' && !declared.has(name)))
  return [
    ...type.ports.filter(isInput),
    ...[...named].map((name): Port => ({ name, kind: 'output', required: false, many: false })),
    ...type.ports.filter((port) => !isInput(port)),
  ]
}

/** `portsOf`, and those that are gone from the config while an edge still begins there: it has to be seen to be mended. */
export function drawnPorts(node: DagNode, type: NodeType | undefined, connected: ReadonlySet<string>): Port[] {
  const ports = portsOf(node, type)
  if (!type?.ports_field) return ports
  const gone = [...connected].filter((name) => !ports.some((port) => port.name === name))
  return [...ports, ...gone.map((name): Port => ({ name, kind: 'output', required: false, many: false }))]
}

export const familyOf = (type: string): Family => {
  const family = type.split('.')[0]
  return family === 'source' || family === 'sink' ? family : 'flow'
}

/** The first free id of the form `word`, `word_2`, `word_3` … */
export function freeId(taken: Record<string, unknown>, word: string): string {
  const base = word.replace(/[^A-Za-z0-9_]+/g, '_').slice(0, 50) || 'node'
  if (!(base in taken)) return base
  let number = 2
  while (`${base}_${number}` in taken) number += 1
  return `${base}_${number}`
}

/** `name`, or `name 2`, `name 3` … so that no two nodes share a name. */
export function freeName(document: DagDocument, name: string): string {
  const taken = new Set(Object.values(document.nodes).map((node) => node.name))
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name} ${number}`)) number += 1
  return `${name} ${number}`
}

/** Defaults that the type's JSON Schema states, one level deep. */
export function defaultConfig(type: NodeType): Config {
  const properties = (type.schema.properties ?? {}) as Record<string, { default?: Json }>
  const required = new Set((type.schema.required ?? []) as string[])
  const filled = Object.entries(properties).filter(([name, field]) => field.default != null && !required.has(name))
  return Object.fromEntries(filled.map(([name, field]) => [name, field.default as Json]))
}

export function addNode(document: DagDocument, type: NodeType): { document: DagDocument; id: string } {
  const id = freeId(document.nodes, type.type.split('.').pop() ?? 'node')
  const node: DagNode = { type: type.type, type_version: type.version, name: freeName(document, type.title), config: defaultConfig(type) }
  return { document: { ...document, nodes: { ...document.nodes, [id]: node } }, id }
}

export function removeElements(document: DagDocument, nodeIds: Iterable<string>, edgeIds: Iterable<string> = []): DagDocument {
  const goneNodes = new Set(nodeIds)
  const goneEdges = new Set(edgeIds)
  const keepEdge = ([id, edge]: [string, DagEdge]) => !goneEdges.has(id) && !goneNodes.has(edge.from[0]) && !goneNodes.has(edge.to[0])
  return {
    ...document,
    nodes: Object.fromEntries(Object.entries(document.nodes).filter(([id]) => !goneNodes.has(id))),
    edges: Object.fromEntries(Object.entries(document.edges).filter(keepEdge)),
  }
}

export function connect(document: DagDocument, from: Endpoint, to: Endpoint): DagDocument {
  const id = freeId(document.edges, `e${Object.keys(document.edges).length + 1}`)
  return { ...document, edges: { ...document.edges, [id]: { from, to } } }
}

export function changeNode(document: DagDocument, id: string, change: Partial<DagNode>): DagDocument {
  const node = document.nodes[id]
  if (!node) return document
  return { ...document, nodes: { ...document.nodes, [id]: { ...node, ...change } } }
}

/** Put `nodeId` in the middle of an edge, by its first input and first output. */
export function insertOnEdge(document: DagDocument, edgeId: string, nodeId: string, type: NodeType): DagDocument {
  const edge = document.edges[edgeId]
  const input = type.ports.find((port) => port.kind === 'input')
  const output = type.ports.find((port) => port.kind === 'output')
  if (!edge || !input || !output) return document
  const cut = removeElements(document, [], [edgeId])
  return connect(connect(cut, edge.from, [nodeId, input.name]), [nodeId, output.name], edge.to)
}

/** Node ids, sources first, so that every edge leads forward; ids on a cycle come last. */
export function topologicalOrder(document: DagDocument): string[] {
  const waiting = new Map(Object.keys(document.nodes).map((id) => [id, 0]))
  const edges = Object.values(document.edges)
  for (const edge of edges) waiting.set(edge.to[0], (waiting.get(edge.to[0]) ?? 0) + 1)
  const order: string[] = []
  const ready = [...waiting].filter(([, count]) => count === 0).map(([id]) => id)
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    order.push(id)
    for (const edge of edges.filter((candidate) => candidate.from[0] === id)) {
      const left = (waiting.get(edge.to[0]) ?? 0) - 1
      waiting.set(edge.to[0], left)
      if (left === 0) ready.push(edge.to[0])
    }
  }
  return [...order, ...Object.keys(document.nodes).filter((id) => !order.includes(id))]
}
