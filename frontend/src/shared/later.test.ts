import { afterEach, expect, it, vi } from 'vitest'
import { loadedPatiently } from './later'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('a part that a silent server does not bring is waited for', async () => {
  vi.useFakeTimers()
  let away = true
  vi.stubGlobal('fetch', vi.fn(() => (away ? Promise.reject(new TypeError('away')) : Promise.resolve(new Response()))))
  const load = vi.fn(() => (away ? Promise.reject(new TypeError('away')) : Promise.resolve('the part')))
  const loaded = loadedPatiently(load)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(load).toHaveBeenCalledTimes(3)
  away = false
  await vi.advanceTimersByTimeAsync(2_000)
  await expect(loaded).resolves.toBe('the part')
})

it('a part that a server which answers does not have is missing', async () => {
  vi.stubGlobal('fetch', vi.fn(() => Promise.resolve(new Response('', { status: 404 }))))
  const load = vi.fn(() => Promise.reject(new TypeError('no such file')))
  await expect(loadedPatiently(load)).rejects.toThrow('no such file')
  expect(load).toHaveBeenCalledTimes(2)
})
