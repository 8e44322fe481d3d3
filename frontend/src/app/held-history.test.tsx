import { act, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Link, Route, Routes, unstable_HistoryRouter as HistoryRouter, useSearchParams } from 'react-router'
import { beforeEach, expect, it } from 'vitest'
import { holdPage } from '../shared/leaving'
import { heldHistory } from './held-history'

let waits: (() => void) | null
let needed: boolean

const isDrawn = () => screen.queryByText(/^drawing/) !== null

function Drawing() {
  const [params, setParams] = useSearchParams()
  return (
    <>
      <output>{`drawing ${params.get('tab') ?? ''}`}</output>
      <Link to="/jobs">away</Link>
      <button type="button" onClick={() => setParams({ tab: 'rows' })}>tab</button>
    </>
  )
}

function Jobs() {
  return (
    <>
      <output>all jobs</output>
      <Link to="/drawing">again</Link>
    </>
  )
}

beforeEach(() => {
  waits = null
  needed = true
  window.history.pushState(null, '', '/home')
  render(
    <HistoryRouter history={heldHistory()}>
      <Routes>
        <Route path="/home" element={<Link to="/drawing">draw</Link>} />
        <Route path="/drawing" element={<Drawing />} />
        <Route path="/jobs" element={<Jobs />} />
      </Routes>
    </HistoryRouter>,
  )
  return holdPage({ needed: () => needed && isDrawn(), ask: (goOn) => (waits = goOn) })
})

const draw = () => userEvent.click(screen.getByText('draw'))

it('a page that is held stays until one says to leave it all the same', async () => {
  await draw()
  await userEvent.click(screen.getByText('away'))
  expect([isDrawn(), window.location.pathname]).toEqual([true, '/drawing'])
  act(() => waits?.())
  await waitFor(() => expect(screen.getByText('all jobs')).toBeVisible())
  expect(window.location.pathname).toBe('/jobs')
})

it('a page that holds nothing back is left at once', async () => {
  needed = false
  await draw()
  await userEvent.click(screen.getByText('away'))
  expect(screen.getByText('all jobs')).toBeVisible()
})

it('another tab of the same page is shown without asking', async () => {
  await draw()
  await userEvent.click(screen.getByText('tab'))
  expect(screen.getByText('drawing rows')).toBeVisible()
  expect(waits).toBeNull()
})

it("the browser's way back is asked about, too", async () => {
  await draw()
  act(() => window.history.back())
  await waitFor(() => expect(waits).not.toBeNull())
  await waitFor(() => expect(window.location.pathname).toBe('/drawing'))
  expect(isDrawn()).toBe(true)
  act(() => waits?.())
  await waitFor(() => expect(screen.getByText('draw')).toBeVisible())
  expect(window.location.pathname).toBe('/home')
})

it('several ways back at once leave the browser at the page that is held', async () => {
  const place = () => (window.history.state as { idx: number }).idx
  needed = false
  await draw()
  await userEvent.click(screen.getByText('away'))
  await userEvent.click(screen.getByText('again'))
  await userEvent.click(screen.getByText('tab'))
  act(() => window.history.back())
  await waitFor(() => expect(place()).toBe(3))
  needed = true
  // As a browser goes back twice: the second is on its way before the page answers the first.
  act(() => {
    window.history.go(-1)
    window.history.go(-2)
  })
  await new Promise((done) => setTimeout(done, 300))
  expect([place(), isDrawn(), waits === null]).toEqual([3, true, false])
  act(() => waits?.())
  expect(await screen.findByText('all jobs')).toBeVisible()
  expect(place()).toBe(2)
})
