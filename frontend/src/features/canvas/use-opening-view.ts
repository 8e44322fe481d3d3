import { useReactFlow, useStore, useStoreApi, type InternalNode } from '@xyflow/react'
import { useCallback, useLayoutEffect, useRef } from 'react'
import { openingView } from './opening-view'

const areMeasured = (nodes: ReadonlyMap<string, InternalNode>) => nodes.size > 0 && [...nodes.values()].every((node) => node.measured.width !== undefined)

interface OpeningView {
  /** Whether the drawing has been shown like that, or does not have to be. */
  isShown: boolean
  /** Shows it like that again. */
  show: () => void
}

/** Shows the drawing as it opens, once all its nodes are measured. */
export function useOpeningView(opens: boolean): OpeningView {
  const { setViewport } = useReactFlow()
  const store = useStoreApi()
  const opened = useRef(!opens)
  const measured = useStore(({ nodeLookup, width, panZoom }) => opened.current || (width > 0 && panZoom !== null && areMeasured(nodeLookup)))
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
  return { isShown: measured, show }
}
