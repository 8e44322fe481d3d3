import { MantineProvider } from '@mantine/core'
import { act, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { Awaited } from './awaited'

afterEach(() => vi.useRealTimers())

it('a page that does not come says so after a while, and not before', () => {
  vi.useFakeTimers()
  render(
    <MantineProvider env="test">
      <Awaited />
    </MantineProvider>,
  )
  expect(screen.queryByText('pageLate')).toBeNull()
  act(() => vi.advanceTimersByTime(3_000))
  expect(screen.getByText('pageLate')).toBeVisible()
})
