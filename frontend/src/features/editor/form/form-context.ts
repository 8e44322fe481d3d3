import type { Column, Json } from '../../../dag/document'
import type { Table } from './sql-completion'

/** What fields offer for completion. */
export interface FormHelp {
  columns: Column[]
  /** Those of each input port, in the order of the ports. */
  inputs: readonly Column[][]
  /** What a query of the node may read. */
  tables: readonly Table[]
  /** Undefined until they are known. */
  connections: { name: string; kind: string }[] | undefined
  /** Has a connection of one of `kinds` made; then told its name. */
  connect: (kinds: readonly string[], then: (name: string) => void) => void
  /** Sentences that warn only. */
  warnings: ReadonlySet<string>
  readOnly: boolean
  /** Sets a field of the config. */
  write: (field: string, value: Json) => void
}

/** What a field for columns offers: of the input that it means, if it means one. */
export const offeredColumns = ({ columns, inputs }: FormHelp, field: Record<string, unknown>): Column[] => inputs[Number(field['x-of-input'] ?? 0) - 1] ?? columns

/** Whether something of what is said of a field is more than a warning. */
export const areErrors = ({ warnings }: FormHelp, messages: readonly string[] | undefined): boolean => (messages ?? []).some((message) => !warnings.has(message))
