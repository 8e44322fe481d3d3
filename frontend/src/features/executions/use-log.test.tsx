import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { execution } from '../../live/builders'
import { useLog } from './use-log'

/** Attempt → the lines of its file; a line is a byte long here. */
let files: Record<number, string[]>
/** From where it was read. */
let starts: number[]

beforeEach(() => {
  vi.useFakeTimers()
  starts = []
  vi.stubGlobal('fetch', (path: string) => {
    const after = Number(new URL(path, location.origin).searchParams.get('after'))
    starts.push(after)
    const attempts = Object.keys(files).map(Number)
    const attempt = attempts.at(-1) ?? null
    const lines = files[attempt ?? 0] ?? []
    const from = after < 0 || after > lines.length ? 0 : after
    const results = lines.slice(from).map((message) => ({ time: null, level: 'INFO', node_id: '', message }))
    return Promise.resolve(new Response(JSON.stringify({ results, next_offset: lines.length, more: false, attempt, attempts })))
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const later = () => act(() => vi.advanceTimersByTimeAsync(2_000))

it('an attempt that begins while one follows is shown from its beginning', async () => {
  files = { 1: ['one', 'failed'] }
  const { result } = renderHook(() => useLog(execution(), { level: '', search: '', nodeId: '', attempt: '', follow: true }))
  await later()
  files = { 1: ['one', 'failed'], 2: ['begun', 'connected', 'reading'] }
  await later()
  expect(result.current.lines.map((line) => line.message)).toEqual(['begun', 'connected', 'reading'])
  files = { 1: [], 2: ['begun', 'connected', 'reading', 'written'] }
  await later()
  expect(result.current.lines.map((line) => line.message)).toEqual(['begun', 'connected', 'reading', 'written'])
})

it('what is looked for is looked for from the beginning of the log, and else its tail is shown', async () => {
  files = { 1: ['one', 'failed'] }
  const { rerender } = renderHook(({ search }) => useLog(execution(), { level: '', search, nodeId: '', attempt: '', follow: false }), { initialProps: { search: '' } })
  await later()
  rerender({ search: 'fail' })
  await later()
  expect(starts).toEqual([-200_000, 0])
})
