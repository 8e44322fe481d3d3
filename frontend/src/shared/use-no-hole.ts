import { useEffect, useRef } from 'react'

/**
 * Reads a list anew where the live link holds newer ones only, without those in between: it keeps so many, and begins anew after a pause.
 * Both hold numbers that rise by one.
 */
export function useNoHole(live: readonly number[], listed: readonly number[] | undefined, refetch: () => void): void {
  const newest = listed?.reduce((one, other) => Math.max(one, other), 0)
  const next = live.reduce((one, other) => (newest !== undefined && other > newest ? Math.min(one, other) : one), Infinity)
  const hole = newest !== undefined && Number.isFinite(next) && next > newest + 1 ? next : 0
  const asked = useRef({ hole: 0, refetch })
  useEffect(() => {
    asked.current.refetch = refetch
  })
  useEffect(() => {
    // Asked once for each: a number that nothing has is not to be asked for for ever.
    if (hole === 0 || hole === asked.current.hole) return
    asked.current.hole = hole
    asked.current.refetch()
  }, [hole])
}
