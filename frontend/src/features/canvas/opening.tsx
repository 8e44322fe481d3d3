import { useCallback, useEffect, useRef } from 'react'
import { useBringIntoSight } from './use-bring-into-sight'
import { useOpeningView } from './use-opening-view'
import { useUntouchedResize } from './use-untouched-resize'

/** Inside a canvas that is only looked at: it shows its drawing as it opens, with the node that is selected or else failed, and from then on each that is selected. */
export function Opening({ selected = null, failed = '' }: { selected?: string | null; failed?: string }) {
  const { isShown, show } = useOpeningView(true)
  const bringIntoSight = useBringIntoSight()
  const failedAtFirst = useRef(failed)
  const atFirst = useRef(true)
  useEffect(() => {
    if (!isShown) return
    const id = selected ?? (atFirst.current ? failedAtFirst.current : '')
    atFirst.current = false
    if (id) bringIntoSight(id)
  }, [isShown, selected, bringIntoSight])
  useUntouchedResize(
    useCallback(() => {
      if (!isShown) return
      show()
      const id = selected ?? failedAtFirst.current
      if (id) bringIntoSight(id)
    }, [isShown, show, selected, bringIntoSight]),
  )
  return null
}
