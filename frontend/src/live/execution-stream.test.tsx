import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventMessage, snapshot } from './builders'
import { executionStream } from './execution-stream'
import type { LiveListener } from './live-socket'
import type { ExecutionMessage } from './messages'

const wire = vi.hoisted(() => ({ reread: vi.fn(), hear: vi.fn<(message: unknown) => void>() }))
vi.mock('./live-socket', () => ({
  liveSocket: (_: string, listener: LiveListener<ExecutionMessage>) => {
    wire.hear.mockImplementation((message) => listener.message(message as ExecutionMessage))
    return { reread: wire.reread, close: () => undefined }
  },
}))

let close: () => void

beforeEach(() => {
  vi.useFakeTimers()
  wire.reread.mockClear()
  close = executionStream('e1').open()
  wire.hear(snapshot(1))
})
afterEach(() => {
  close()
  vi.useRealTimers()
})

it('one gap is reread at once, and once', () => {
  wire.hear(eventMessage(3))
  wire.hear(eventMessage(4))
  vi.advanceTimersByTime(0)
  expect(wire.reread).toHaveBeenCalledOnce()
  wire.hear(snapshot(4))
  vi.advanceTimersByTime(10_000)
  expect(wire.reread).toHaveBeenCalledOnce()
})

it('a second gap right after the first is closed as well, at the end of the pause', () => {
  wire.hear(eventMessage(3))
  vi.advanceTimersByTime(50)
  wire.hear(snapshot(3))
  wire.hear(eventMessage(5))
  vi.advanceTimersByTime(100)
  expect(wire.reread).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(500)
  expect(wire.reread).toHaveBeenCalledTimes(2)
})

it('nothing is reread of an execution that was left', () => {
  wire.hear(eventMessage(3))
  close()
  vi.advanceTimersByTime(1_000)
  expect(wire.reread).not.toHaveBeenCalled()
})

it('a server on this machine is not offline when the laptop has no network', () => {
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
  const { store, open } = executionStream('e2')
  const end = open()
  window.dispatchEvent(new Event('offline'))
  expect(store.getState().link.onLine).toBe(true)
  end()
  vi.restoreAllMocks()
})
