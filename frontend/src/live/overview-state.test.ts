import { expect, it } from 'vitest'
import { execution } from './builders'
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
