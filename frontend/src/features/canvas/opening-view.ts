import type { Rect, Viewport } from '@xyflow/react'

/** Below this a node's words cannot be read. */
export const READABLE = 0.8
const MARGIN = 24
/** The tools and the legend stand there. */
const FOOT = 44

/** The whole drawing where it can be read like that; else its beginning, at a size one can read: the sources at the left, the rest by panning. */
export function openingView(nodes: readonly Rect[], width: number, height: number): Viewport {
  const left = Math.min(...nodes.map((node) => node.x))
  const right = Math.max(...nodes.map((node) => node.x + node.width))
  const top = Math.min(...nodes.map((node) => node.y))
  const bottom = Math.max(...nodes.map((node) => node.y + node.height))
  const zoom = Math.max(READABLE, Math.min(1, (width - 2 * MARGIN) / (right - left), (height - FOOT - MARGIN) / (bottom - top)))
  const fits = { x: (right - left) * zoom <= width - MARGIN, y: (bottom - top) * zoom <= height - FOOT }
  return {
    x: fits.x ? width / 2 - ((left + right) / 2) * zoom : MARGIN - left * zoom,
    y: fits.y ? (height - FOOT) / 2 - ((top + bottom) / 2) * zoom : MARGIN - top * zoom,
    zoom,
  }
}
