import type { DagDocument } from '../../dag/document'

const NONE: ReadonlySet<string> = new Set()

/** Node id → names of its ports that have an edge. */
export function connectedPorts(document: DagDocument): (nodeId: string) => ReadonlySet<string> {
  const taken = new Map<string, Set<string>>()
  for (const edge of Object.values(document.edges)) {
    for (const [nodeId, port] of [edge.from, edge.to]) taken.set(nodeId, (taken.get(nodeId) ?? new Set()).add(port))
  }
  return (nodeId) => taken.get(nodeId) ?? NONE
}
