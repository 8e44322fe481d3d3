import { useEffect, useRef, type RefObject } from 'react'

/** Puts the focus into the first control of the row that was added last, once it is drawn: call the answer when one is added. */
export function useNewRow<Host extends HTMLElement>(rows: number): { host: RefObject<Host | null>; added: () => void } {
  const host = useRef<Host>(null)
  const waits = useRef(false)
  useEffect(() => {
    if (!waits.current) return
    waits.current = false
    const row = [...(host.current?.children ?? [])].findLast((child) => child.classList.contains('pw-rows-row'))
    row?.querySelector<HTMLElement>('input, textarea, [contenteditable=true], button')?.focus()
  }, [rows])
  return { host, added: () => void (waits.current = true) }
}
