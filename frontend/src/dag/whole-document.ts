/** A document that was written elsewhere, so that it can be drawn: every part is there and of its kind; what else stands in it stays. */

import type { DagDocument, DagEdge, DagNode, Endpoint, GivenRows, Json, PipelineTest, Row } from './document'

type Part = Record<string, unknown>

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value)
const partOf = (value: unknown): Part => (isPart(value) ? value : {})
const textOf = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise)

/** Each entry as `read` reads it, without those of which nothing can be drawn. */
const entries = <T>(value: unknown, read: (entry: unknown, key: string) => T | null): Record<string, T> =>
  Object.fromEntries(
    Object.entries(partOf(value)).flatMap(([key, entry]): [string, T][] => {
      const found = read(entry, key)
      return found === null ? [] : [[key, found]]
    }),
  )

const nodeOf = (value: unknown, id: string): DagNode | null => {
  if (!isPart(value)) return null
  const { type, type_version, name, config } = value
  const version = typeof type_version === 'number' ? type_version : 1
  return { ...value, type: textOf(type), type_version: version, name: textOf(name, id), config: partOf(config) as DagNode['config'] }
}

/** ["node", "port"], or "node.port", or the node alone. */
const endpointOf = (value: unknown, port: string): Endpoint | null => {
  const words: unknown[] = typeof value === 'string' ? value.split('.') : Array.isArray(value) ? value : []
  return typeof words[0] === 'string' ? [words[0], textOf(words[1], port)] : null
}

const edgeOf = (value: unknown): DagEdge | null => {
  const { from, to } = partOf(value)
  const ends = [endpointOf(from, 'out'), endpointOf(to, 'in')] as const
  return ends[0] && ends[1] ? { ...partOf(value), from: ends[0], to: ends[1] } : null
}

/** A value alone is what the parameter has by default. */
const parameterOf = (value: unknown): Json => (isPart(value) ? value : { default: value ?? null }) as Json

const rowsOf = (value: unknown): GivenRows => (Array.isArray(value) ? (value as GivenRows) : [])

const testOf = (value: unknown): PipelineTest[] => {
  if (!isPart(value)) return []
  const kept = { ...value, name: textOf(value.name) } as PipelineTest
  if ('given' in value) kept.given = entries(value.given, rowsOf)
  if ('expect' in value) kept.expect = entries(value.expect, rowsOf) as Record<string, Row[]>
  if ('columns' in value) kept.columns = entries(value.columns, (columns) => (typeof columns === 'string' ? columns : null))
  if ('parameters' in value) kept.parameters = partOf(value.parameters) as Record<string, Json>
  if ('clock' in value) kept.clock = Array.isArray(value.clock) ? value.clock.map(String) : []
  return [kept]
}

/** `value` with all its parts: what is missing is empty, what is of another kind is taken as what it comes nearest to. */
export function wholeDocument(value: unknown, jobName: string): DagDocument {
  const raw = partOf(value)
  const whole = {
    ...raw,
    schema_version: typeof raw.schema_version === 'number' ? raw.schema_version : 1,
    name: textOf(raw.name, jobName),
    type: textOf(raw.type, 'STREAMING') as DagDocument['type'],
    parameters: entries(raw.parameters, parameterOf),
    nodes: entries(raw.nodes, nodeOf),
    edges: entries(raw.edges, edgeOf),
    settings: partOf(raw.settings) as DagDocument['settings'],
  } as DagDocument
  if ('title' in raw) whole.title = textOf(raw.title)
  if ('description' in raw) whole.description = textOf(raw.description)
  if ('tests' in raw) whole.tests = Array.isArray(raw.tests) ? raw.tests.flatMap(testOf) : []
  return whole
}
