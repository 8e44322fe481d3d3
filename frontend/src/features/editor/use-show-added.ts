import { useReactFlow, useStoreApi } from '@xyflow/react'
import { useCallback, useEffect, useRef } from 'react'
import { NODE_HEIGHT, NODE_WIDTH } from '../../dag/layout'
import { useEditor } from './editor-store'

const MARGIN = 24

/**
 * Moves the view to nodes that were added where nobody sees them: from the palette, by keyboard, pasted.
 * The answer is told of one that a person put where it stands: the view stays for it.
 */
export function useShowAdded(): (id: string) => void {
  const { fitView, flowToScreenPosition, getZoom } = useReactFlow()
  const store = useStoreApi()
  const selected = useEditor((state) => state.selected)
  const known = useRef<ReadonlySet<string> | null>(null)
  const placed = useRef(new Set<string>())
  useEffect(() => {
    const { document, layout } = useEditor.getState().history.present
    const before = known.current
    known.current = new Set(Object.keys(document.nodes))
    const added = before ? [...selected].filter((id) => document.nodes[id] && !before.has(id) && !placed.current.has(id)) : []
    const well = store.getState().domNode?.getBoundingClientRect()
    if (added.length === 0 || !well) return
    const isOutside = (id: string) => {
      const { x, y } = layout.positions[id] ?? { x: 0, y: 0 }
      const start = flowToScreenPosition({ x, y })
      const end = flowToScreenPosition({ x: x + NODE_WIDTH, y: y + NODE_HEIGHT })
      return start.x < well.left + MARGIN || start.y < well.top + MARGIN || end.x > well.right - MARGIN || end.y > well.bottom - MARGIN
    }
    // A frame later, when the new node has been drawn and measured.
    if (added.some(isOutside)) requestAnimationFrame(() => requestAnimationFrame(() => void fitView({ nodes: added.map((id) => ({ id })), maxZoom: getZoom(), minZoom: 0.2, duration: 200, padding: 0.4 })))
  }, [selected, fitView, flowToScreenPosition, getZoom, store])
  return useCallback((id: string) => void placed.current.add(id), [])
}
