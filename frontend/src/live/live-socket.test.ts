import { expect, it, vi } from 'vitest'
import { liveSocket } from './live-socket'

const sockets = vi.hoisted(() => [] as EventTarget[])
vi.mock('partysocket/ws', () => ({
  default: class extends EventTarget {
    constructor() {
      super()
      sockets.push(this)
    }
  },
}))

it('a long number arrives as the server wrote it', () => {
  vi.stubGlobal('location', { protocol: 'https:', host: 'pipeline.example.com' })
  vi.stubGlobal('window', new EventTarget())
  const message = vi.fn()
  liveSocket('/ws/overview', { message, open: vi.fn(), lost: vi.fn() })
  sockets[0]?.dispatchEvent(new MessageEvent('message', { data: '{"id":9007199254740993}' }))
  expect(message).toHaveBeenCalledWith({ id: 9007199254740993n })
})
