import ReconnectingSocket from 'partysocket/ws'
import { parseExact } from '../dag/exact-json'

export interface LiveSocket {
  /** Drop the connection and open it again: the server answers with a fresh snapshot. */
  reread: () => void
  close: () => void
}

export interface LiveListener<M> {
  message: (message: M) => void
  open: () => void
  /** `attempt` counts the tries since the connection was lost. */
  lost: (attempt: number) => void
}

const address = (path: string) => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`

/** One socket that opens itself again, with growing pauses, until it is closed. */
export function liveSocket<M>(path: string, listener: LiveListener<M>): LiveSocket {
  const socket = new ReconnectingSocket(address(path), [], { minReconnectionDelay: 300, maxReconnectionDelay: 5_000, reconnectionDelayGrowFactor: 1.6, minUptime: 2_000, maxEnqueuedMessages: 0 })
  socket.addEventListener('open', () => listener.open())
  socket.addEventListener('close', () => listener.lost(socket.retryCount + 1))
  socket.addEventListener('message', (event: MessageEvent<string>) => listener.message(parseExact(event.data) as M))
  const online = () => socket.reconnect()
  window.addEventListener('online', online)
  return {
    reread: () => socket.reconnect(),
    close: () => {
      window.removeEventListener('online', online)
      socket.close()
    },
  }
}
