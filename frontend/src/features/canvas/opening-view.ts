import type { Rect, Viewport } from '@xyflow/react'

/** Below this a node's words cannot be read. */
export const READABLE = 0.6
const MARGIN = 24
/** The tools and the legend stand there: at the left and at the right of the foot. */
const FOOT = 44
const CORNER = { left: 180, right: 224, height: 52 }
/** Over and under a drawing that reaches between them. */
const SLIM = 14

interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

function boxOf(nodes: readonly Rect[]): Box {
  return {
    left: Math.min(...nodes.map((node) => node.x)),
    right: Math.max(...nodes.map((node) => node.x + node.width)),
    top: Math.min(...nodes.map((node) => node.y)),
    bottom: Math.max(...nodes.map((node) => node.y + node.height)),
  }
}

const middle = ({ left, right, top, bottom }: Box, width: number, height: number, zoom: number): Viewport => ({ x: width / 2 - ((left + right) / 2) * zoom, y: height / 2 - ((top + bottom) / 2) * zoom, zoom })

/** Whether a node would lie under what stands in the corners of the foot. */
const isCovered = (nodes: readonly Rect[], width: number, height: number, { x, y, zoom }: Viewport): boolean =>
  nodes.some((node) => {
    const low = (node.y + node.height) * zoom + y > height - CORNER.height
    return low && (node.x * zoom + x < CORNER.left || (node.x + node.width) * zoom + x > width - CORNER.right)
  })

/** The whole drawing where it can be read like that; else its beginning, at a size one can read: the sources at the left, the rest by panning. */
export function openingView(nodes: readonly Rect[], width: number, height: number): Viewport {
  const box = boxOf(nodes)
  const { left, right, top, bottom } = box
  const across = Math.min(1, (width - 2 * MARGIN) / (right - left))
  const zoom = Math.max(READABLE, Math.min(across, (height - FOOT - MARGIN) / (bottom - top)))
  const whole = middle(box, width, height, Math.min(across, (height - 2 * SLIM) / (bottom - top)))
  if (whole.zoom > zoom && !isCovered(nodes, width, height, whole)) return whole
  const fits = { x: (right - left) * zoom <= width - MARGIN, y: (bottom - top) * zoom <= height - FOOT }
  return {
    x: fits.x ? width / 2 - ((left + right) / 2) * zoom : MARGIN - left * zoom,
    y: fits.y ? (height - FOOT) / 2 - ((top + bottom) / 2) * zoom : MARGIN - top * zoom,
    zoom,
  }
}
