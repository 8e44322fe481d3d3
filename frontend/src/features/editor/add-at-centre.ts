import type { NodeType } from '../../dag/document'
import { useEditor } from './editor-store'

/** Add a node behind the rightmost one that still has a free output, else in the first free place. */
export function addAtCentre(type: NodeType): string {
  const { history, addNode, selected } = useEditor.getState()
  const places = history.present.layout.positions
  const anchor = [...selected][0]
  const at = anchor && places[anchor] ? { x: places[anchor].x + 248, y: places[anchor].y } : { x: Math.max(-208, ...Object.values(places).map((place) => place.x)) + 248, y: 40 }
  return addNode(type, at)
}
