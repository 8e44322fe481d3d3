/** Problems sorted to the node, edge and field they belong to. */

import type { DagDocument, NodeType, Problem } from './document'

export const nodeProblems = (problems: Problem[], nodeId: string) => problems.filter((problem) => problem.node_id === nodeId)

/** The one to show on a card: errors before warnings. */
export const worst = (problems: Problem[]) => problems.find((problem) => problem.severity === 'error') ?? problems[0]

const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** The path inside a node's config that a pointer names, such as `['aggregates', '0', 'column']`; null if it is elsewhere. */
export function configPath(problem: Problem, nodeId: string): string[] | null {
  const parts = problem.pointer.split('/').slice(1).map(unescape)
  if (parts[0] !== 'nodes' || parts[1] !== nodeId || parts[2] !== 'config') return null
  return parts.slice(3)
}

const escaped = (words: string) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The field that a problem of a whole config speaks of: the first whose name or title stands in its sentence. */
export function namedField({ message, code }: Problem, type: Pick<NodeType, 'schema'> | undefined): string | null {
  if (!code.startsWith('config.')) return null
  const fields = Object.entries((type?.schema.properties ?? {}) as Record<string, { title?: string }>)
  const places = fields.flatMap(([name, { title }]) =>
    [name, title ?? name].map((words) => ({ name, at: new RegExp(`(?<![\\w"'])${escaped(words)}(?![\\w"'])`, 'i').exec(message)?.index ?? -1 })).filter(({ at }) => at >= 0),
  )
  return places.sort((one, other) => one.at - other.at)[0]?.name ?? null
}

/** The path of the field that a problem of a node is about, by its pointer or else by its words; null if it is about none. */
export function fieldPath(problem: Problem, nodeId: string, type: Pick<NodeType, 'schema'> | undefined): string[] | null {
  const path = configPath(problem, nodeId)
  if (path?.length) return path
  const named = namedField(problem, type)
  return named ? [named] : null
}

const isSame = (one: Problem, other: Problem) => one.pointer === other.pointer && one.message === other.message

/** `told` of a drawing without Spark, and what only Spark had found of nodes that are as it saw them, until it looks again. `before`: what was said till now, with what was told without Spark. */
export function toldMeanwhile(told: Problem[], before: { problems: Problem[]; told: Problem[]; analysed: DagDocument | null }, document: DagDocument): Problem[] {
  const stands = (problem: Problem) => {
    const id = problem.node_id ?? ''
    const asSeen = document.nodes[id] !== undefined && before.analysed?.nodes[id] === document.nodes[id]
    return asSeen && !before.told.some((one) => isSame(one, problem)) && nodeProblems(told, id).length === 0
  }
  return [...told, ...before.problems.filter(stands)]
}

/** Problems that need the person's attention first: errors, in the order of the document's nodes. */
export function ordered(problems: Problem[], document: DagDocument): Problem[] {
  const place = new Map(Object.keys(document.nodes).map((id, index) => [id, index]))
  const rank = (problem: Problem) => (problem.severity === 'error' ? 0 : 10_000) + (place.get(problem.node_id ?? '') ?? -1)
  return [...problems].sort((one, other) => rank(one) - rank(other))
}
