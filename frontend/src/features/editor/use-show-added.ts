import { useReactFlow, useStoreApi } from '@xyflow/react'
import { useCallback, useEffect, useRef } from 'react'
import { NODE_HEIGHT, NODE_WIDTH } from '../../dag/layout'
import { useEditor } from './editor-store'

const MARGIN = 24

/**
 * Moves the view to nodes that were added where nobody sees them: from the palette, by keyboard, pasted; and to one that was chosen
 * elsewhere, as in the outline or among the problems, while nothing of it is in sight.
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
    const [chosen] = before && added.length === 0 && selected.size === 1 ? selected : []
    const wanted = chosen && document.nodes[chosen] ? [chosen] : added
    if (wanted.length === 0 || !well) return
    const cornersOf = (id: string) => {
      const { x, y } = layout.positions[id] ?? { x: 0, y: 0 }
      return [flowToScreenPosition({ x, y }), flowToScreenPosition({ x: x + NODE_WIDTH, y: y + NODE_HEIGHT })] as const
    }
    const isWhole = (id: string) => {
      const [start, end] = cornersOf(id)
      return start.x >= well.left + MARGIN && start.y >= well.top + MARGIN && end.x <= well.right - MARGIN && end.y <= well.bottom - MARGIN
    }
    const isSeen = (id: string) => {
      const [start, end] = cornersOf(id)
      return end.x > well.left && end.y > well.top && start.x < well.right && start.y < well.bottom
    }
    // An added node is to be seen whole; of one that was there already, a corner says where it is.
    if (wanted.every(chosen ? isSeen : isWhole)) return
    // A frame later, when a new node has been drawn and measured.
    requestAnimationFrame(() => requestAnimationFrame(() => void fitView({ nodes: wanted.map((id) => ({ id })), maxZoom: getZoom(), minZoom: 0.2, duration: 200, padding: 0.4 })))
  }, [selected, fitView, flowToScreenPosition, getZoom, store])
  return useCallback((id: string) => void placed.current.add(id), [])
}
