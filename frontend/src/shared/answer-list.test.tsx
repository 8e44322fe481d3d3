import { act, fireEvent, render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { afterEach, expect, it, vi } from 'vitest'
import { AnswerList } from './answer-list'
import { answer, useAnswers } from './answers'

const shownAt = (path: string) => {
  useAnswers.setState({ answers: [{ id: 1, ok: true, text: 'Execution e1 started', at: 0, link: { words: 'Open', to: '/executions/e1' } }] })
  render(
    <MemoryRouter initialEntries={[path]}>
      <AnswerList />
    </MemoryRouter>,
  )
}

it('an answer links to what it made', () => {
  shownAt('/jobs')
  expect(screen.getByRole('link', { name: 'Open' })).toBeVisible()
})

it('on that very page it does not', () => {
  shownAt('/executions/e1')
  expect(screen.queryByRole('link')).toBeNull()
})

const later = (ms: number) => act(() => vi.advanceTimersByTime(ms))
const offered = (run = vi.fn()) => {
  vi.useFakeTimers()
  useAnswers.setState({ answers: [] })
  render(
    <MemoryRouter>
      <AnswerList />
    </MemoryRouter>,
  )
  act(() => answer(true, 'Rows kept', { words: 'Undo', run }))
  return run
}
afterEach(() => {
  for (const { id } of useAnswers.getState().answers) useAnswers.getState().dismiss(id)
  vi.useRealTimers()
})

it('an offer stays longer than a plain answer', () => {
  offered()
  act(() => answer(true, 'Kept'))
  later(8_000)
  expect(screen.queryByText(/^Kept/)).toBeNull()
  expect(screen.getByText('Undo')).toBeVisible()
  later(13_000)
  expect(screen.queryByText('Undo')).toBeNull()
})

it('no answer goes while the pointer or the focus is on it, nor just after', () => {
  offered()
  const list = screen.getByText('Undo').closest('.pw-answers') as HTMLElement
  fireEvent.pointerMove(list)
  later(60_000)
  act(() => screen.getByText('Undo').focus())
  fireEvent.pointerLeave(list)
  later(60_000)
  expect(screen.getByText('Undo')).toBeVisible()
  act(() => screen.getByText('Undo').blur())
  later(4_000)
  expect(screen.getByText('Undo')).toBeVisible()
  later(2_000)
  expect(screen.queryByText('Undo')).toBeNull()
})

it('an offer that is taken goes, and those beside it in their time', () => {
  const run = offered()
  act(() => answer(true, 'Kept'))
  fireEvent.pointerMove(screen.getByText('Undo'))
  fireEvent.click(screen.getByText('Undo'))
  expect(run).toHaveBeenCalledOnce()
  expect(screen.queryByText('Undo')).toBeNull()
  later(8_000)
  expect(screen.queryByText(/^Kept/)).toBeNull()
})

it('a refusal with a way out stays until it is taken or sent away', () => {
  offered()
  act(() => answer(false, 'Refused', { words: 'From the beginning', run: vi.fn() }))
  later(600_000)
  expect(screen.queryByText('Undo')).toBeNull()
  fireEvent.click(screen.getByText('From the beginning'))
  expect(screen.queryByText(/^Refused/)).toBeNull()
})
