/** Ports that rows of a config name: what is connected to one follows when it gets another name. */

import type { DagDocument, DagEdge, NodeType, PipelineTest } from './document'

type Names = readonly string[]

function namesIn(document: DagDocument, id: string, type: NodeType): Names {
  const rows = document.nodes[id]?.config[type.ports_field]
  return (Array.isArray(rows) ? rows : []).map((row: unknown) => String((row as { name?: unknown } | null)?.name ?? ''))
}

const isOnce = (names: Names, name: string) => name !== '' && names.filter((other) => other === name).length === 1

/** The old and the new name where one row got another; while it has none, or that of another row, what was connected waits at the old one. */
function renamed(before: Names, after: Names, waiting: Names): readonly [string, string] | null {
  const changed = before.length === after.length ? before.flatMap((name, index) => (name === after[index] ? [] : [index])) : []
  const [index] = changed
  if (changed.length !== 1 || index === undefined) return null
  const [old = '', now = ''] = [before[index], after[index]]
  if (!isOnce(after, now)) return null
  if (isOnce(before, old)) return [old, now]
  const [only] = waiting
  return waiting.length === 1 && only !== undefined ? [only, now] : null
}

function inTest(test: PipelineTest, outlet: string, now: string): PipelineTest {
  if (!test.expect || !(outlet in test.expect)) return test
  return { ...test, expect: Object.fromEntries(Object.entries(test.expect).map(([key, rows]) => [key === outlet ? now : key, rows])) }
}

/** `after` with the edges and expectations of the node `id` at the ports that its rows name now. */
export function portsFollowed(before: DagDocument, after: DagDocument, id: string, type: NodeType | undefined): DagDocument {
  if (!type?.ports_field) return after
  const [old, now] = [namesIn(before, id, type), namesIn(after, id, type)]
  const known = new Set([...old, ...type.ports.map((port) => port.name)])
  const leaving = Object.values(before.edges).filter((edge) => edge.from[0] === id)
  const waiting = [...new Set(leaving.map((edge) => edge.from[1]).filter((name) => !known.has(name)))]
  const change = renamed(old, now, waiting)
  if (!change) return after
  const [from, to] = change
  const followed = (edge: DagEdge): DagEdge => (edge.from[0] === id && edge.from[1] === from ? { ...edge, from: [id, to] } : edge)
  return {
    ...after,
    edges: Object.fromEntries(Object.entries(after.edges).map(([edgeId, edge]) => [edgeId, followed(edge)])),
    ...(after.tests ? { tests: after.tests.map((test) => inTest(test, `${id}.${from}`, `${id}.${to}`)) } : {}),
  }
}
