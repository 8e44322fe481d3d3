import { expect, it, vi } from 'vitest'
import { isOnLine } from './on-line'

it.each(['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])('a server at %s is there without any network', (host) => {
  vi.stubGlobal('navigator', { onLine: false })
  expect(isOnLine(host)).toBe(true)
})

it.each(['pipeline.example.org', '10.0.0.7', '127.example.org'])('one at %s is not', (host) => {
  vi.stubGlobal('navigator', { onLine: false })
  expect(isOnLine(host)).toBe(false)
  vi.stubGlobal('navigator', { onLine: true })
  expect(isOnLine(host)).toBe(true)
})
