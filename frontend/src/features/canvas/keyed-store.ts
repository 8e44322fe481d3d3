import { useCallback, useSyncExternalStore } from 'react'

/** Values by key outside React's tree, so that one tick redraws one badge. */
export interface KeyedStore<T> {
  get: (key: string) => T | undefined
  /** All that is known now: a key that is not among it is forgotten. Tells only the listeners of keys whose value changed. */
  set: (values: ReadonlyMap<string, T>) => void
  subscribe: (key: string, listener: () => void) => () => void
}

export function keyedStore<T>(same: (one: T, other: T) => boolean = Object.is): KeyedStore<T> {
  const values = new Map<string, T>()
  const listeners = new Map<string, Set<() => void>>()
  const tell = (key: string) => listeners.get(key)?.forEach((listener) => listener())
  return {
    get: (key) => values.get(key),
    set: (next) => {
      for (const key of [...values.keys()].filter((key) => !next.has(key))) {
        values.delete(key)
        tell(key)
      }
      for (const [key, value] of next) {
        const old = values.get(key)
        if (old !== undefined && same(old, value)) continue
        values.set(key, value)
        tell(key)
      }
    },
    subscribe: (key, listener) => {
      const group = listeners.get(key) ?? new Set()
      listeners.set(key, group.add(listener))
      return () => group.delete(listener)
    },
  }
}

/** A part of what is kept under a key: who shows it is drawn again only when that changes. `part`: always the same function. */
export function useKeyedPart<T, Part extends string | number | boolean>(store: KeyedStore<T>, key: string, part: (value: T | undefined) => Part): Part {
  const subscribe = useCallback((listener: () => void) => store.subscribe(key, listener), [store, key])
  return useSyncExternalStore(subscribe, () => part(store.get(key)))
}

export function useKeyed<T>(store: KeyedStore<T>, key: string): T | undefined {
  const subscribe = useCallback((listener: () => void) => store.subscribe(key, listener), [store, key])
  return useSyncExternalStore(subscribe, () => store.get(key))
}
