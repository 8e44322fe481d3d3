// @vitest-environment jsdom
import { render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { expect, it } from 'vitest'
import { AnswerList } from './answer-list'
import { useAnswers } from './answers'

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
