/** Node → what its version calls it. */
export type NodeNames = Record<string, string>

export const NO_NAMES: NodeNames = {}

/** The name of the node that an operator of a query belongs to; what Spark calls it where that cannot be told. */
export function operatorName(operator: Record<string, unknown>, names: NodeNames): string {
  const node = String(operator.node_id || '')
  return names[node] ?? (node || String(operator.operator || ''))
}
