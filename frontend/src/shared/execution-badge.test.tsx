import { act, render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { hearClock } from '../api/server-clock'
import { execution } from '../live/builders'
import { ExecutionBadge } from './execution-badge'

it('a state is a word, not only a colour', () => {
  render(<ExecutionBadge execution={execution({ shown_status: 'CHECKPOINTING' })} />)
  expect(screen.getByText('CHECKPOINTING')).toBeVisible()
})

it('a driver that is silent past its lease makes the state unconfirmed', () => {
  render(<ExecutionBadge execution={execution({ lease_expires_at: new Date(Date.now() - 60_000).toISOString() })} />)
  expect(screen.getByText('UNCONFIRMED')).toBeVisible()
})

it('an ended execution is never unconfirmed', () => {
  render(<ExecutionBadge execution={execution({ status: 'COMPLETED', shown_status: 'COMPLETED', lease_expires_at: new Date(0).toISOString() })} />)
  expect(screen.getByText('COMPLETED')).toBeVisible()
})

it('a computer whose clock is ahead makes no state unconfirmed', () => {
  const own = Date.now()
  const server = own - 60_000
  render(<ExecutionBadge execution={execution({ lease_expires_at: new Date(server + 10_000).toISOString() })} />)
  act(() => hearClock(new Date(server).toUTCString(), own - 10, own))
  expect(screen.getByText('RUNNING')).toBeVisible()
  act(() => hearClock(new Date(own).toUTCString(), own - 10, own))
  expect(screen.getByText('UNCONFIRMED')).toBeVisible()
})
