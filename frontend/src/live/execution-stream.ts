import { createStore, type StoreApi } from 'zustand/vanilla'
import { applyExecutionMessage, type ExecutionState } from './execution-state'
import type { Connectivity } from './link-state'
import { liveSocket } from './live-socket'
import type { ExecutionMessage } from './messages'
import { isOnLine } from './on-line'

export interface ExecutionStream {
  store: StoreApi<{ state: ExecutionState | null; link: Connectivity }>
  /** Opens the socket; the answer closes it. */
  open: () => () => void
}

const GAP_PAUSE_MS = 500

/** Rereads at once, and again at the end of the pause where that left something out. A snapshot ends what waits. */
function gapCloser(reread: () => void) {
  let rereadAt = 0
  let waits: ReturnType<typeof setTimeout> | undefined
  const closed = () => {
    clearTimeout(waits)
    waits = undefined
  }
  const close = () => {
    closed()
    rereadAt = Date.now()
    reread()
  }
  const gap = () => {
    waits ??= setTimeout(close, Math.max(0, rereadAt + GAP_PAUSE_MS - Date.now()))
  }
  return { gap, closed }
}

/** Follows one execution. A gap in the numbers is closed by asking for a fresh snapshot. */
export function executionStream(executionId: string): ExecutionStream {
  const store: ExecutionStream['store'] = createStore(() => ({
    state: null as ExecutionState | null,
    link: { open: false, lastOpenAt: null, startedAt: Date.now(), attempt: 0, onLine: isOnLine() } as Connectivity,
  }))
  const link = (change: Partial<Connectivity>) => store.setState((old) => ({ link: { ...old.link, ...change } }))
  const open = () => {
    const gaps = gapCloser(() => socket.reread())
    const socket = liveSocket<ExecutionMessage>(`/ws/executions/${encodeURIComponent(executionId)}`, {
      open: () => link({ open: true, lastOpenAt: Date.now(), attempt: 0 }),
      lost: (attempt) => link({ open: false, attempt, lastOpenAt: store.getState().link.open ? Date.now() : store.getState().link.lastOpenAt }),
      message: (message) => {
        const applied = applyExecutionMessage(store.getState().state, message)
        if (applied.kind === 'state') store.setState({ state: applied.state })
        if (applied.kind === 'gap') gaps.gap()
        if (message.type === 'snapshot') gaps.closed()
      },
    })
    const network = () => link({ onLine: isOnLine() })
    window.addEventListener('online', network)
    window.addEventListener('offline', network)
    return () => {
      window.removeEventListener('online', network)
      window.removeEventListener('offline', network)
      gaps.closed()
      socket.close()
    }
  }
  return { store, open }
}
