import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { emptyOverview } from '../live/overview-state'
import { overviewStore } from '../live/overview-stream'
import { useRefetchOnChange } from './overview'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const heard = (number: number) => act(() => overviewStore.setState({ state: { ...emptyOverview, number } }))

const pass = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds))

it('a list is read anew while changes never pause, and once after the last', async () => {
  const refetch = vi.fn(() => Promise.resolve())
  renderHook(() => useRefetchOnChange(refetch))
  for (let number = 1; number <= 30; number += 1) {
    heard(number)
    await pass(500)
  }
  expect(refetch.mock.calls.length).toBeGreaterThanOrEqual(7)
  expect(refetch.mock.calls.length).toBeLessThanOrEqual(10)
  const before = refetch.mock.calls.length
  heard(31)
  await pass(60_000)
  expect(refetch.mock.calls.length - before).toBe(1)
})

it('a reading that lasts is waited for, and what changed meanwhile is read behind it', async () => {
  const ends: (() => void)[] = []
  renderHook(() => useRefetchOnChange(() => new Promise<void>((resolve) => ends.push(resolve))))
  for (let number = 101; number <= 110; number += 1) {
    heard(number)
    await pass(1_000)
  }
  expect(ends.length).toBe(1)
  ends[0]?.()
  await pass(60_000)
  expect(ends.length).toBe(2)
})

it('nothing is read of a list that was left', async () => {
  const refetch = vi.fn(() => Promise.resolve())
  const { unmount } = renderHook(() => useRefetchOnChange(refetch))
  heard(32)
  unmount()
  await pass(5_000)
  expect(refetch).not.toHaveBeenCalled()
})
