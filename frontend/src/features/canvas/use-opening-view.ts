import { useReactFlow, useStore, useStoreApi } from '@xyflow/react'
import { useCallback, useLayoutEffect, useRef } from 'react'
import { openingView } from './opening-view'

/** Shows the drawing as it opens, once its nodes are measured, which they are all at once; the answer does so again. */
export function useOpeningView(opens: boolean): () => void {
  const { setViewport } = useReactFlow()
  const store = useStoreApi()
  const measured = useStore(({ nodeLookup, width, panZoom }) => width > 0 && panZoom !== null && nodeLookup.values().next().value?.measured.width !== undefined)
  const opened = useRef(!opens)
  const show = useCallback(() => {
    const { width, height, nodeLookup } = store.getState()
    const nodes = [...nodeLookup.values()].map((node) => ({ ...node.internals.positionAbsolute, width: node.measured.width ?? 0, height: node.measured.height ?? 0 }))
    if (nodes.length > 0) void setViewport(openingView(nodes, width, height))
  }, [setViewport, store])
  useLayoutEffect(() => {
    if (!measured || opened.current) return
    opened.current = true
    show()
  }, [measured, show])
  return show
}
