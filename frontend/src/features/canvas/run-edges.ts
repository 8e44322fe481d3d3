import type { Edge } from '@xyflow/react'
import type { TFunction } from 'i18next'
import { drawnPorts, type Catalogue, type DagDocument, type DagEdge, type PortKind } from '../../dag/document'
import { connectedPorts } from './connected-ports'
import type { RunEdgeData } from './run-edge'
import { spokenEdge } from './spoken'

/** Edges as they are drawn; one between ports with names knows how many such edges lead to the same place before it. */
export function runEdges(t: TFunction, document: DagDocument, catalogue: Catalogue): Edge<RunEdgeData>[] {
  const connected = connectedPorts(document)
  const areNamed = (id: string, kind: PortKind) => {
    const node = document.nodes[id]
    return node !== undefined && drawnPorts(node, catalogue.get(node.type), connected(id)).filter((port) => port.kind === kind).length > 1
  }
  const isBetweenNames = ({ from, to }: DagEdge) => from[1] !== 'errors' && (areNamed(from[0], 'output') || areNamed(to[0], 'input'))
  const before = new Map<string, number>()
  return Object.entries(document.edges).map(([id, edge]) => {
    const place = edge.to.join(' ')
    const rank = isBetweenNames(edge) ? (before.get(place) ?? 0) : null
    if (rank !== null) before.set(place, rank + 1)
    return {
      id,
      type: 'run',
      source: edge.from[0],
      sourceHandle: edge.from[1],
      target: edge.to[0],
      targetHandle: edge.to[1],
      ...spokenEdge(t, document, edge),
      data: { errors: edge.from[1] === 'errors', rank },
    }
  })
}
