import { useSyncExternalStore } from 'react'
import { onClockCorrected, serverNow } from '../api/server-clock'

let now = serverNow()
let ownNow = Date.now()
let timer: ReturnType<typeof setInterval> | null = null
const listeners = new Set<() => void>()

function tick(): void {
  now = serverNow()
  ownNow = Date.now()
  listeners.forEach((listener) => listener())
}
onClockCorrected(tick)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0 && timer) {
      clearInterval(timer)
      timer = null
    }
  }
}

/** The time in ms as the server has it, told once a second by one clock for the whole page. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

/** The browser's own time, for what it noted itself. */
export const useOwnNow = (): number => useSyncExternalStore(subscribe, () => ownNow)

/** Whether a time that the browser noted itself is past: who asks is drawn again only once it is. */
export const useIsPast = (ownTime: number): boolean => useSyncExternalStore(subscribe, () => ownNow > ownTime)
