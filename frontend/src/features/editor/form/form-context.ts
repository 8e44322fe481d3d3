import type { Column, Json } from '../../../dag/document'
import type { Table } from './sql-completion'

/** What fields offer for completion. */
export interface FormHelp {
  columns: Column[]
  /** What a query of the node may read. */
  tables: readonly Table[]
  /** Undefined until they are known. */
  connections: { name: string; kind: string }[] | undefined
  /** Sentences that warn only. */
  warnings: ReadonlySet<string>
  readOnly: boolean
  /** Sets a field of the config. */
  write: (field: string, value: Json) => void
}

/** Whether something of what is said of a field is more than a warning. */
export const areErrors = ({ warnings }: FormHelp, messages: readonly string[] | undefined): boolean => (messages ?? []).some((message) => !warnings.has(message))
