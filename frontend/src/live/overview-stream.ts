import { createStore } from 'zustand/vanilla'
import type { Connectivity } from './link-state'
import { liveSocket, type LiveSocket } from './live-socket'
import type { OverviewMessage } from './messages'
import { isOnLine } from './on-line'
import { applyOverviewMessage, emptyOverview, type OverviewState } from './overview-state'

interface Overview {
  state: OverviewState
  link: Connectivity
}

/** What the whole interface hears: one socket for the page's life. */
export const overviewStore = createStore<Overview>(() => ({
  state: emptyOverview,
  link: { open: false, lastOpenAt: null, startedAt: Date.now(), attempt: 0, onLine: isOnLine() },
}))

const link = (change: Partial<Connectivity>) => overviewStore.setState((old) => ({ link: { ...old.link, ...change } }))

/** Opens the socket; the answer closes it. */
export function followOverview(): () => void {
  const socket: LiveSocket = liveSocket<OverviewMessage>('/ws/overview', {
    open: () => link({ open: true, lastOpenAt: Date.now(), attempt: 0 }),
    lost: (attempt) => link({ open: false, attempt, lastOpenAt: overviewStore.getState().link.open ? Date.now() : overviewStore.getState().link.lastOpenAt }),
    message: (message) => overviewStore.setState((old) => ({ state: applyOverviewMessage(old.state, message) })),
  })
  const network = () => link({ onLine: isOnLine() })
  window.addEventListener('online', network)
  window.addEventListener('offline', network)
  return () => {
    window.removeEventListener('online', network)
    window.removeEventListener('offline', network)
    socket.close()
  }
}
