import { renderHook } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { useNoHole } from './use-no-hole'

interface Held {
  live: number[]
  listed: number[] | undefined
}

function watched(first: Held) {
  const refetch = vi.fn()
  const { rerender } = renderHook(({ live, listed }: Held) => useNoHole(live, listed, refetch), { initialProps: first })
  return { refetch, rerender }
}

it('a list is read anew once the live ones no longer reach down to it', () => {
  const { refetch, rerender } = watched({ live: [5, 4, 3], listed: [3, 2, 1] })
  rerender({ live: [6, 5, 4], listed: [3, 2, 1] })
  expect(refetch).not.toHaveBeenCalled()
  rerender({ live: [7, 6, 5], listed: [3, 2, 1] })
  expect(refetch).toHaveBeenCalledOnce()
  rerender({ live: [7, 6, 5], listed: [7, 6, 5, 4, 3, 2, 1] })
  rerender({ live: [10, 9, 8], listed: [7, 6, 5, 4, 3, 2, 1] })
  expect(refetch).toHaveBeenCalledOnce()
})

it('an old one that was heard of again hides no hole', () => {
  const { refetch } = watched({ live: [9, 8, 1], listed: [3, 2, 1] })
  expect(refetch).toHaveBeenCalledOnce()
})

it('a number that is nowhere is asked for once', () => {
  const { refetch, rerender } = watched({ live: [5], listed: [3] })
  rerender({ live: [6, 5], listed: [3] })
  expect(refetch).toHaveBeenCalledOnce()
})

it('nothing is asked for before the list was read', () => {
  const { refetch } = watched({ live: [9, 8], listed: undefined })
  expect(refetch).not.toHaveBeenCalled()
})
