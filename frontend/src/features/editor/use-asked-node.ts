import { useEffect } from 'react'
import { useUrlState } from '../../shared/url-state'
import { useDocument, useEditor } from './editor-store'

/** Selects the node that the address names, as where a search found it, once the drawing is on the screen. The word then leaves the address: the same node can be asked for again. */
export function useAskedNode(isDrawn: boolean): void {
  const [asked, setAsked] = useUrlState('node')
  const isThere = Object.hasOwn(useDocument().nodes, asked)
  useEffect(() => {
    if (!asked || !isDrawn) return
    if (isThere) useEditor.getState().select([asked])
    setAsked('')
  }, [asked, isDrawn, isThere, setAsked])
}
