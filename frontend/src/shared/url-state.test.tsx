import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { BrowserRouter } from 'react-router'
import { beforeEach, expect, it } from 'vitest'
import { useUrlState } from './url-state'

function Filters() {
  const [state, setState] = useUrlState('state')
  const [tab, setTab] = useUrlState('tab', 'first')
  return (
    <>
      <output>{`${state} ${tab}`}</output>
      <button type="button" onClick={() => { setState('FAILED'); setTab('second') }}>both</button>
      <button type="button" onClick={() => setTab('first')}>back</button>
    </>
  )
}

beforeEach(() => {
  window.history.replaceState(null, '', '/?state=RUNNING')
  render(
    <BrowserRouter>
      <Filters />
    </BrowserRouter>,
  )
})

it('begins with what the address says', () => expect(screen.getByText('RUNNING first')).toBeVisible())

it('keeps two words that are set at once', async () => {
  await userEvent.click(screen.getByText('both'))
  expect(screen.getByText('FAILED second')).toBeVisible()
  expect(window.location.search).toBe('?state=FAILED&tab=second')
})

it('leaves the usual word out of the address', async () => {
  await userEvent.click(screen.getByText('both'))
  await userEvent.click(screen.getByText('back'))
  expect(window.location.search).toBe('?state=FAILED')
})
