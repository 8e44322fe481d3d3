import { familyOf, type DagDocument, type Family } from '../../../dag/document'

/** The sources from which rows come to a node; a source itself is its own. */
export const sourcesAbove = (document: DagDocument, nodeId: string) => ofFamily(document, 'source', above(document, nodeId))

/** The sinks whose rejected rows come to a node. */
export const sinksAbove = (document: DagDocument, nodeId: string) => ofFamily(document, 'sink', above(document, nodeId)).filter((id) => id !== nodeId)

const ofFamily = (document: DagDocument, family: Family, ids: readonly string[]) =>
  ids.filter((id) => familyOf(document.nodes[id]?.type ?? '') === family).sort()

/** A node and all from which rows come to it. */
function above(document: DagDocument, nodeId: string): string[] {
  const found = new Set<string>()
  const waiting = [nodeId]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (found.has(one)) continue
    found.add(one)
    for (const edge of Object.values(document.edges)) if (edge.to[0] === one) waiting.push(edge.from[0])
  }
  return [...found]
}
