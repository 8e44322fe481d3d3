import { expect, it } from 'vitest'
import { connectionHealth, execution } from './builders'
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

it('a connection that begins to fail or works again is a turn, and another try with the same end is none', () => {
  const heard = [true, true, false, false, true].reduce(
    (state, test_ok) => applyOverviewMessage(state, { type: 'connection', connection: connectionHealth({ test_ok }) }),
    emptyOverview,
  )
  expect(heard.turns).toBe(2)
  expect(heard.connections[1]?.test_ok).toBe(true)
  expect(applyOverviewMessage(emptyOverview, { type: 'connection', connection: connectionHealth({ test_ok: false }) }).turns).toBe(1)
})
