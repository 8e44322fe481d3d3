import { expect, it } from 'vitest'
import type { Execution } from '../api/types'
import { connectionHealth, execution } from './builders'
import type { OverviewMessage } from './messages'
import { applyOverviewMessage, emptyOverview } from './overview-state'

it('a snapshot replaces what was known', () => {
  const before = applyOverviewMessage(emptyOverview, { type: 'snapshot', number: 3, executions: [execution({ execution_id: 'gone' })] })
  const state = applyOverviewMessage(before, { type: 'snapshot', number: 9, executions: [execution()] })
  expect(Object.keys(state.executions)).toEqual(['e1'])
  expect(state.number).toBe(9)
})

it('an older word about an execution does not undo a newer one', () => {
  const before = applyOverviewMessage(emptyOverview, { type: 'execution', number: 8, execution: execution({ seq: 5, status: 'COMPLETED' }) })
  const state = applyOverviewMessage(before, { type: 'execution', number: 7, execution: execution({ seq: 4, status: 'RUNNING' }) })
  expect(state.executions.e1?.status).toBe('COMPLETED')
  expect(state.number).toBe(8)
})

const rates = (execution_id: string): OverviewMessage => ({ type: 'rates', time: '2026-11-21T10:00:00Z', execution_id, job_name: 'orders', in_per_second: 1, out_per_second: 1, rejected_per_second: 0, backlog: null })
const heardOf = (number: number, change: Partial<Execution>): OverviewMessage => ({ type: 'execution', number, execution: execution({ execution_id: `e${number}`, create_time: `2026-11-21T10:00:0${number}Z`, ...change }) })

it('of each job it keeps what has not ended, and the newest', () => {
  const messages = [heardOf(1, { status: 'COMPLETED' }), rates('e1'), heardOf(2, { status: 'RUNNING' }), rates('e2'), heardOf(3, { status: 'FAILED' }), heardOf(4, { job_name: 'flights', status: 'COMPLETED' })]
  const state = messages.reduce(applyOverviewMessage, emptyOverview)
  expect(Object.keys(state.executions)).toEqual(['e2', 'e3', 'e4'])
  expect(Object.keys(state.rates)).toEqual(['e2'])
  const ended = applyOverviewMessage(state, heardOf(2, { status: 'COMPLETED', seq: 9 }))
  expect(Object.keys(ended.executions)).toEqual(['e3', 'e4'])
})

it('a connection that begins to fail or works again is a turn, and another try with the same end is none', () => {
  const heard = [true, true, false, false, true].reduce(
    (state, test_ok) => applyOverviewMessage(state, { type: 'connection', connection: connectionHealth({ test_ok }) }),
    emptyOverview,
  )
  expect(heard.turns).toBe(2)
  expect(heard.connections[1]?.test_ok).toBe(true)
  expect(applyOverviewMessage(emptyOverview, { type: 'connection', connection: connectionHealth({ test_ok: false }) }).turns).toBe(1)
})
