import type { DagDocument, Schemas } from '../../dag/document'
import type { Table } from './form/sql-completion'

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9_]+/g, '_').replace(/^_+|_+$/g, '')

/** As the server names it: by the node, in small letters, with _ for what SQL does not take, and by a port of its own; of what has no such letters by its very name. */
function tableName(node: string, port: string, place: number): string {
  const ofNode = plain(node)
  if (!ofNode) return port === 'out' ? `input_${place + 1}` : `\`${node}_${port}\``.toLowerCase()
  return (/^\d/.test(ofNode) ? `t_${ofNode}` : ofNode) + (port === 'out' ? '' : `_${plain(port)}`)
}

/** One that comes twice is numbered. */
function tableNames(inputs: readonly { node: string; port: string }[]): string[] {
  const names: string[] = []
  for (const [index, { node, port }] of inputs.entries()) {
    const name = tableName(node, port, index)
    names.push(names.includes(name) ? `${name}_${index + 1}` : name)
  }
  return names
}

/** The tables that a source names itself, in its config's rows of inputs; what columns they have only the server knows. */
function ownTables(config: Record<string, unknown> | undefined): Table[] {
  const given = Array.isArray(config?.inputs) ? (config.inputs as { name?: unknown }[]) : []
  return given.flatMap(({ name }) => (typeof name === 'string' && name ? [{ name, columns: [] }] : []))
}

/** The inputs of a node as tables of a query, in the order of their edges; a lone one is also called input. */
export function inputTables(document: DagDocument, schemas: Schemas, nodeId: string): Table[] {
  const arriving = Object.values(document.edges).filter((edge) => edge.to[0] === nodeId)
  if (arriving.length === 0) return ownTables(document.nodes[nodeId]?.config)
  const names = tableNames(arriving.map(({ from: [id, port] }) => ({ node: document.nodes[id]?.name ?? id, port })))
  const tables = arriving.map((edge, index): Table => ({ name: names[index] ?? '', columns: schemas[edge.from[0]]?.[edge.from[1]] ?? [] }))
  return tables.length === 1 ? tables.flatMap((table) => [table, { ...table, name: 'input' }]) : tables
}
