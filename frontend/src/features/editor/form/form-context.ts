import type { Column } from '../../../dag/document'

/** What fields offer for completion. */
export interface FormHelp {
  columns: Column[]
  connections: { name: string; kind: string }[]
  focusField: string | null
}
