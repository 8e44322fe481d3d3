import { useEffect } from 'react'
import { useNavigate } from 'react-router'

const GO: Record<string, string> = { h: '/', j: '/jobs', e: '/executions', c: '/checkpoints', o: '/connections' }
const CHORD_MS = 1_000

const typing = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Ctrl+K and / search, ? shows the sheet, g then a letter goes to a place. */
export function useGlobalKeys(acts: { search: () => void; sheet: () => void }): void {
  const navigate = useNavigate()
  const { search, sheet } = acts
  useEffect(() => {
    let chordAt = 0
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        search()
        return
      }
      if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (event.key === '?') sheet()
      else if (event.key === '/') {
        event.preventDefault()
        search()
      } else if (event.key === 'g') chordAt = Date.now()
      else if (Date.now() - chordAt < CHORD_MS && GO[event.key]) {
        chordAt = 0
        void navigate(GO[event.key] ?? '/')
      }
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [navigate, search, sheet])
}
