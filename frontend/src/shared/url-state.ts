import { useCallback } from 'react'
import { useSearchParams } from 'react-router'

/** One word of the address's query: every filter, tab and selection lives there. An empty word leaves the address. */
export function useUrlState(key: string, initial = ''): [string, (value: string) => void] {
  const [params, setParams] = useSearchParams()
  const set = useCallback(
    (value: string) =>
      setParams(
        () => {
          // The address itself, not the router's last drawing of it: two words set at once must both stay.
          const next = new URLSearchParams(window.location.search)
          if (value === '' || value === initial) next.delete(key)
          else next.set(key, value)
          return next
        },
        { replace: true },
      ),
    [key, initial, setParams],
  )
  return [params.get(key) ?? initial, set]
}
