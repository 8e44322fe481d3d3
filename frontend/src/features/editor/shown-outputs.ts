import type { Preview, PreviewSide } from '../../api/types'
import type { NodeType } from '../../dag/document'

/** The outputs of a previewed node: those for rows that went astray, rejected or too late, only where there are some. */
export function shownOutputs(type: NodeType | undefined, outputs: Preview['outputs']): [string, PreviewSide][] {
  const isForStrays = (port: string) => port === 'errors' || (port === 'late' && type?.ports.some((one) => one.name === port))
  return Object.entries(outputs).filter(([port, side]) => side.rows.length > 0 || !isForStrays(port))
}
