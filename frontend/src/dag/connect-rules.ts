/** Whether two ports may be joined, and if not, why: in words for the person who drags. */

import { isInput, portsOf, type Catalogue, type DagDocument, type Endpoint, type NodeType, type Port } from './document'

const port = (document: DagDocument, catalogue: Catalogue, [nodeId, name]: Endpoint): Port | undefined =>
  portsOf(document.nodes[nodeId], catalogue.get(document.nodes[nodeId]?.type ?? '')).find((candidate) => candidate.name === name)

const incomingOf = (document: DagDocument, to: Endpoint) =>
  Object.values(document.edges).filter((edge) => edge.to[0] === to[0] && edge.to[1] === to[1])

/** Node ids on a way from `start` to `goal`, both included; null if there is none. */
export function pathBetween(document: DagDocument, start: string, goal: string): string[] | null {
  const seen = new Set<string>()
  const walk = (id: string): string[] | null => {
    if (id === goal) return [id]
    seen.add(id)
    for (const edge of Object.values(document.edges)) {
      if (edge.from[0] !== id || seen.has(edge.to[0])) continue
      const rest = walk(edge.to[0])
      if (rest) return [id, ...rest]
    }
    return null
  }
  return walk(start)
}

export interface Refusal {
  reason: 'unknown' | 'direction' | 'duplicate' | 'full' | 'cycle'
  detail: string
}

/** Whether an input has the one edge it can take */
export function isFull(document: DagDocument, catalogue: Catalogue, to: Endpoint): boolean {
  const input = port(document, catalogue, to)
  return input !== undefined && isInput(input) && !input.many && incomingOf(document, to).length > 0
}

/** null when the edge may be drawn. */
export function connectionRefusal(document: DagDocument, catalogue: Catalogue, from: Endpoint, to: Endpoint): Refusal | null {
  const output = port(document, catalogue, from)
  const input = port(document, catalogue, to)
  if (!output || !input) return { reason: 'unknown', detail: '' }
  if (isInput(output) || !isInput(input)) return { reason: 'direction', detail: '' }
  const isDuplicate = incomingOf(document, to).some((edge) => edge.from[0] === from[0] && edge.from[1] === from[1])
  if (isDuplicate) return { reason: 'duplicate', detail: '' }
  if (isFull(document, catalogue, to)) return { reason: 'full', detail: '' }
  const way = pathBetween(document, to[0], from[0])
  if (way) return { reason: 'cycle', detail: way.map((id) => document.nodes[id]?.name ?? id).join(' → ') }
  return null
}

/** The port of `type` that an edge from or to `port` would use, if any fits. */
export function fittingPort(type: NodeType, other: Port): Port | undefined {
  return type.ports.find((candidate) => (isInput(other) ? !isInput(candidate) && candidate.kind !== 'errors' : isInput(candidate)))
}

/** Required inputs without an edge, as `[node id, port]`. */
export function openRequiredPorts(document: DagDocument, catalogue: Catalogue): Endpoint[] {
  const taken = new Set(Object.values(document.edges).flatMap((edge) => [edge.from.join('.'), edge.to.join('.')]))
  return Object.entries(document.nodes).flatMap(([id, node]) =>
    (catalogue.get(node.type)?.ports ?? [])
      .filter((candidate) => candidate.required && isInput(candidate) && !taken.has(`${id}.${candidate.name}`))
      .map((candidate): Endpoint => [id, candidate.name]),
  )
}
