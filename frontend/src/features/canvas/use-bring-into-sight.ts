import { useReactFlow, useStoreApi } from '@xyflow/react'
import { useCallback } from 'react'

/** Moves the view to a node whose middle is out of sight. */
export function useBringIntoSight(): (id: string) => void {
  const { setCenter } = useReactFlow()
  const store = useStoreApi()
  return useCallback(
    (id) => {
      const { nodeLookup, transform: [left, top, zoom], width, height } = store.getState()
      const node = nodeLookup.get(id)
      if (!node) return
      const { x, y } = node.internals.positionAbsolute
      const middle = { x: x + (node.measured.width ?? 0) / 2, y: y + (node.measured.height ?? 0) / 2 }
      const seen = { x: middle.x * zoom + left, y: middle.y * zoom + top }
      if (seen.x < 0 || seen.y < 0 || seen.x > width || seen.y > height) void setCenter(middle.x, middle.y, { zoom, duration: 200 })
    },
    [setCenter, store],
  )
}
