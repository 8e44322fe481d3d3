import { useEffect, useRef } from 'react'
import { useBringIntoSight } from './use-bring-into-sight'
import { useOpeningView } from './use-opening-view'

/** Inside a canvas that is only looked at: it shows its drawing as it opens, with the node that is selected or else failed, and from then on each that is selected. */
export function Opening({ selected = null, failed = '' }: { selected?: string | null; failed?: string }) {
  const { isShown } = useOpeningView(true)
  const bringIntoSight = useBringIntoSight()
  const atFirst = useRef(failed)
  useEffect(() => {
    if (!isShown) return
    const id = selected ?? atFirst.current
    atFirst.current = ''
    if (id) bringIntoSight(id)
  }, [isShown, selected, bringIntoSight])
  return null
}
