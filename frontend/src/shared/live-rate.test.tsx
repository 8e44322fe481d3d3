import { render, screen } from '@testing-library/react'
import { beforeEach, expect, it } from 'vitest'
import { execution } from '../live/builders'
import { emptyOverview } from '../live/overview-state'
import { overviewStore } from '../live/overview-stream'
import { LiveRate } from './live-rate'

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

/** A job's rate that was told so many seconds ago, with another that the list has. */
function shown(seconds: number, change: Parameters<typeof execution>[0]) {
  const one = execution(change)
  const told = { type: 'rates' as const, time: ago(seconds), execution_id: 'e1', job_name: 'orders', in_per_second: 5000, out_per_second: 0, rejected_per_second: 0, backlog: null }
  overviewStore.setState({ state: { ...emptyOverview, executions: { e1: one }, rates: { e1: told } } })
  render(<LiveRate jobName="orders" latest={one} listed={70} />)
}

beforeEach(() => overviewStore.setState({ state: emptyOverview }))

it('what runs shows the rate that was told last', () => {
  shown(1, { status: 'RUNNING' })
  expect(screen.getByText('5,000')).toBeInTheDocument()
})

it.each(['SCHEDULED', 'INITIALIZING', 'PAUSED'] as const)('what is %s shows none', (status) => {
  shown(1, { status })
  expect(screen.getByText('–')).toBeInTheDocument()
})

it('a rate told long ago, or by a driver that fell silent, gives way to what the server lists', () => {
  shown(180, { status: 'RUNNING' })
  expect(screen.getByText('70')).toBeInTheDocument()
  shown(1, { status: 'RUNNING', lease_expires_at: ago(60) })
  expect(screen.getAllByText('70')).toHaveLength(2)
})
