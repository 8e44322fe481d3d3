import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { emptyOverview } from '../live/overview-state'
import { overviewStore } from '../live/overview-stream'
import { useRefetchOnChange } from './overview'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const heard = (number: number) => act(() => overviewStore.setState({ state: { ...emptyOverview, number } }))

it('a list is read anew while changes never pause, and once after the last', () => {
  const refetch = vi.fn()
  renderHook(() => useRefetchOnChange(refetch))
  for (let number = 1; number <= 30; number += 1) {
    heard(number)
    act(() => void vi.advanceTimersByTime(500))
  }
  expect(refetch.mock.calls.length).toBeGreaterThanOrEqual(7)
  expect(refetch.mock.calls.length).toBeLessThanOrEqual(10)
  const before = refetch.mock.calls.length
  heard(31)
  act(() => void vi.advanceTimersByTime(60_000))
  expect(refetch.mock.calls.length - before).toBe(1)
})

it('nothing is read of a list that was left', () => {
  const refetch = vi.fn()
  const { unmount } = renderHook(() => useRefetchOnChange(refetch))
  heard(32)
  unmount()
  act(() => void vi.advanceTimersByTime(5_000))
  expect(refetch).not.toHaveBeenCalled()
})
