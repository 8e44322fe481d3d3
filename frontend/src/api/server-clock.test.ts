import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const NOW = Date.parse('2026-11-21T10:00:00Z')

beforeEach(() => {
  vi.resetModules()
  vi.useFakeTimers({ now: NOW })
  vi.stubGlobal('document', { cookie: '', documentElement: { lang: 'en' } })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** How far the server's clock is ahead of ours after answers with these dates. */
async function ahead(...dates: string[]): Promise<number> {
  const [{ request }, { serverNow }] = await Promise.all([import('./request'), import('./server-clock')])
  for (const date of dates) {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { headers: date ? { Date: date } : {} })))
    await request('GET', '/api/me')
  }
  return serverNow() - NOW
}

it('an answer tells what time it is for the server', async () => {
  expect(await ahead('Sat, 21 Nov 2026 09:59:40 GMT')).toBe(-17_500)
  expect(await ahead('Sat, 21 Nov 2026 10:05:00 GMT')).toBe(300_000)
})

it('a clock that goes right is left alone, and so is one of which nothing is said', async () => {
  expect(await ahead('Sat, 21 Nov 2026 09:59:58 GMT', '')).toBe(0)
})

it('a clock that is put right is believed again', async () => {
  expect(await ahead('Sat, 21 Nov 2026 09:50:00 GMT', 'Sat, 21 Nov 2026 10:00:00 GMT')).toBe(0)
})
