import { useStore } from '@xyflow/react'
import { useEffect, useRef } from 'react'

/** Each of these is a person taking the canvas in hand. */
const IN_HAND = ['pointerdown', 'wheel', 'keydown'] as const

/** Calls `follow` each time the canvas has become larger or smaller, as it does while the page around it is still loading, until a person takes it in hand. */
export function useUntouchedResize(follow: () => void): void {
  const domNode = useStore((store) => store.domNode)
  const touched = useRef(false)
  const followed = useRef('')
  const size = useStore(({ width, height }) => `${width}×${height}`)
  useEffect(() => {
    const touch = () => void (touched.current = true)
    IN_HAND.forEach((kind) => domNode?.addEventListener(kind, touch, { capture: true, passive: true }))
    return () => IN_HAND.forEach((kind) => domNode?.removeEventListener(kind, touch, { capture: true }))
  }, [domNode])
  useEffect(() => {
    if (followed.current && followed.current !== size && !touched.current) follow()
    followed.current = size
  }, [size, follow])
}
