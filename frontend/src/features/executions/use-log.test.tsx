import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { execution } from '../../live/builders'
import { useLog } from './use-log'

/** Attempt → the lines of its file; a line is a byte long here. */
let files: Record<number, string[]>

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', (path: string) => {
    const after = Number(new URL(path, location.origin).searchParams.get('after'))
    const attempts = Object.keys(files).map(Number)
    const attempt = attempts.at(-1) ?? null
    const lines = files[attempt ?? 0] ?? []
    const from = after < 0 || after > lines.length ? 0 : after
    const results = lines.slice(from).map((message, index) => ({ offset: from + index, time: null, level: 'INFO', node_id: '', message }))
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

it.each([
  ['level', { level: 'ERROR' }],
  ['search', { search: 'refused' }],
  ['node', { nodeId: 'orders' }],
])('what a %s asks for is looked for from the beginning, and not found only at the end', async (_, asked) => {
  const pages = [
    { results: [], next_offset: 4_000_000, more: true, attempt: 1, attempts: [1] },
    { results: [{ offset: 4_500_000, time: null, level: 'ERROR', node_id: 'orders', message: 'refused' }], next_offset: 5_000_000, more: false, attempt: 1, attempts: [1] },
  ]
  const offsets: (string | null)[] = []
  vi.stubGlobal('fetch', (path: string) => {
    offsets.push(new URL(path, location.origin).searchParams.get('after'))
    return new Promise((resolve) => setTimeout(() => resolve(new Response(JSON.stringify(pages[offsets.length - 1]))), 100))
  })
  const { result } = renderHook(() => useLog(execution(), { level: '', search: '', nodeId: '', attempt: '', follow: false, ...asked }))
  await act(() => vi.advanceTimersByTimeAsync(150))
  expect(result.current.pending).toBe(true)
  await later()
  expect(offsets).toEqual(['0', '4000000'])
  expect([result.current.pending, result.current.lines.map((line) => line.message)]).toEqual([false, ['refused']])
})

it('the lines before the newest are read on request, up to the first', async () => {
  const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => ({ offset: from + index, time: null, level: 'INFO', node_id: '', message: `line ${from + index}` }))
  const asked: string[] = []
  vi.stubGlobal('fetch', (path: string) => {
    const query = new URL(path, location.origin).searchParams
    asked.push(`${query.has('before') ? 'before' : 'after'} ${query.get('before') ?? query.get('after')} of ${query.get('attempt') ?? 'newest'}`)
    const before = Number(query.get('before'))
    const page = before ? { results: before > 40 ? [] : lines(before - 20, before), next_offset: before > 40 ? 40 : before - 20, more: before !== 20 } : { results: lines(50, 60), next_offset: 60, more: false }
    return Promise.resolve(new Response(JSON.stringify({ ...page, attempt: 2, attempts: [1, 2] })))
  })
  const { result } = renderHook(() => useLog(execution(), { level: '', search: '', nodeId: '', attempt: '', follow: false }))
  await later()
  expect([result.current.hasEarlier, result.current.lines.length]).toEqual([true, 10])
  await act(() => result.current.readEarlier(() => {}))
  await act(() => result.current.readEarlier(() => {}))
  expect(asked).toEqual(['after -200000 of newest', 'before 50 of 2', 'before 40 of 2', 'before 20 of 2'])
  expect([result.current.hasEarlier, result.current.lines[0]?.message, result.current.lines.length]).toEqual([false, 'line 0', 50])
})
