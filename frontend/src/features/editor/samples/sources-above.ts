import { familyOf, type DagDocument } from '../../../dag/document'

/** The sources from which rows come to a node; a source itself is its own. */
export function sourcesAbove(document: DagDocument, nodeId: string): string[] {
  const found = new Set<string>()
  const waiting = [nodeId]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (found.has(one)) continue
    found.add(one)
    for (const edge of Object.values(document.edges)) if (edge.to[0] === one) waiting.push(edge.from[0])
  }
  return [...found].filter((id) => familyOf(document.nodes[id]?.type ?? '') === 'source').sort()
}
