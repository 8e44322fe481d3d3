/** How one document differs from another, part by part. */

import type { DagDocument, DagEdge, Json } from './document'

export type Change = 'added' | 'removed' | 'changed'

/** One value that is not the same; undefined where it is not there. `path` is the way to it: "condition", "columns.2.type". */
export interface FieldDifference {
  path: string
  before: Json | undefined
  after: Json | undefined
}

export interface NodeDifference {
  id: string
  name: string
  change: Change
  /** Of a changed node only. */
  fields: FieldDifference[]
}

export interface EdgeDifference {
  edge: DagEdge
  change: 'added' | 'removed'
}

export interface Difference {
  nodes: NodeDifference[]
  edges: EdgeDifference[]
  /** Of settings, parameters, tests, title and description: "settings.retry_interval". */
  rest: FieldDifference[]
}

const REST = ['title', 'description', 'type', 'settings', 'parameters'] as const

type Part = { [key: string]: Json | undefined }

const isPart = (value: Json | undefined): value is Part & Json => typeof value === 'object' && value !== null

/** Keys that stand in either, those of `before` first. */
const keysOf = (before: object, after: object) => [...new Set([...Object.keys(before), ...Object.keys(after)])]

/** An empty text and a field that is not there both set nothing. */
const isUnset = (value: Json | undefined) => value === undefined || value === ''

function fieldsOf(before: Json | undefined, after: Json | undefined, path: string): FieldDifference[] {
  if (before === after || (isUnset(before) && isUnset(after))) return []
  if (!isPart(before) || !isPart(after) || Array.isArray(before) !== Array.isArray(after)) return [{ path, before, after }]
  return partsOf(before, after, path)
}

function partsOf(before: Part, after: Part, path: string): FieldDifference[] {
  return keysOf(before, after).flatMap((key) => fieldsOf(before[key], after[key], path ? `${path}.${key}` : key))
}

function nodesOf(before: DagDocument, after: DagDocument): NodeDifference[] {
  return keysOf(before.nodes, after.nodes).flatMap((id): NodeDifference[] => {
    const [old, now] = [before.nodes[id], after.nodes[id]]
    if (!old || !now) return [{ id, name: (now ?? old)?.name ?? id, change: now ? 'added' : 'removed', fields: [] }]
    const own = (['name', 'type', 'type_version'] as const).flatMap((key) => fieldsOf(old[key], now[key], key))
    const fields = [...own, ...fieldsOf(old.config, now.config, '')]
    return fields.length > 0 ? [{ id, name: now.name, change: 'changed', fields }] : []
  })
}

/** Edges are told apart by their ends: an edge that was drawn again is the same. */
function edgesOf(before: DagDocument, after: DagDocument): EdgeDifference[] {
  const ends = (edge: DagEdge) => JSON.stringify([edge.from, edge.to])
  const missing = (there: DagDocument, here: DagDocument) => {
    const known = new Set(Object.values(here.edges).map(ends))
    return Object.values(there.edges).filter((edge) => !known.has(ends(edge)))
  }
  return [
    ...missing(after, before).map((edge): EdgeDifference => ({ edge, change: 'added' })),
    ...missing(before, after).map((edge): EdgeDifference => ({ edge, change: 'removed' })),
  ]
}

/** Tests are told apart by their names: one that is added before others changes none of them. */
const byName = ({ tests = [] }: DagDocument): Part => Object.fromEntries(tests.map((test) => [test.name, test as unknown as Json]))

/** What `after` has that `before` has not, and the other way round. Where nodes stand is left out. */
export function differenceOf(before: DagDocument, after: DagDocument): Difference {
  const rest = (document: DagDocument): Part => ({ ...Object.fromEntries(REST.map((key) => [key, document[key] as Json | undefined])), tests: byName(document) as Json })
  return { nodes: nodesOf(before, after), edges: edgesOf(before, after), rest: partsOf(rest(before), rest(after), '') }
}

export const isNone = ({ nodes, edges, rest }: Difference) => nodes.length + edges.length + rest.length === 0

/** The nodes and edges of both, those that are gone from `after` included. */
export function bothOf(before: DagDocument, after: DagDocument): DagDocument {
  const gone = edgesOf(before, after).filter(({ change }) => change === 'removed')
  const edges = Object.fromEntries(gone.map(({ edge }, index) => [`gone ${index}`, edge]))
  return { ...after, nodes: { ...before.nodes, ...after.nodes }, edges: { ...after.edges, ...edges } }
}
