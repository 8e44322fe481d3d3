import { describe, expect, it } from 'vitest'
import { checkpoint, eventMessage, execution, metrics, snapshot } from './builders'
import { applyExecutionMessage, EVENTS_KEPT, type ExecutionState } from './execution-state'
import type { ExecutionMessage } from './messages'

function told(...messages: ExecutionMessage[]): ExecutionState {
  let state: ExecutionState | null = null
  for (const message of messages) {
    const applied = applyExecutionMessage(state, message)
    if (applied.kind === 'state') state = applied.state
  }
  if (!state) throw new Error('nothing was told')
  return state
}

describe('what the socket tells of one execution', () => {
  it('begins with the snapshot', () => {
    expect(told(snapshot(7)).seq).toBe(7)
  })

  it('reads anew when an event comes before any snapshot', () => {
    expect(applyExecutionMessage(null, eventMessage(1)).kind).toBe('gap')
  })

  it('takes the next event and puts it first', () => {
    const state = told(snapshot(7), eventMessage(8))
    expect(state.seq).toBe(8)
    expect(state.events.map((one) => one.seq)).toEqual([8, 7])
  })

  it('drops an event it has already seen', () => {
    expect(applyExecutionMessage(told(snapshot(7)), eventMessage(7)).kind).toBe('ignored')
    expect(applyExecutionMessage(told(snapshot(7)), eventMessage(3)).kind).toBe('ignored')
  })

  it('sees a gap when a number is left out', () => {
    expect(applyExecutionMessage(told(snapshot(7)), eventMessage(9)).kind).toBe('gap')
  })

  it('closes the gap with the snapshot that answers a fresh reading', () => {
    const state = told(snapshot(7), eventMessage(9), snapshot(9), eventMessage(10))
    expect(state.seq).toBe(10)
  })

  it('keeps a checkpoint once, newest number first, in its latest state', () => {
    const state = told(snapshot(1, { checkpoints: [checkpoint(1)] }), eventMessage(2, { checkpoint: checkpoint(2, { status: 'PENDING' }) }), eventMessage(3, { checkpoint: checkpoint(2) }))
    expect(state.checkpoints.map((one) => [one.checkpoint_id, one.status])).toEqual([
      [2, 'COMPLETED'],
      [1, 'COMPLETED'],
    ])
  })

  it('takes what somebody changed of a checkpoint, which is no event', () => {
    const state = told(snapshot(7, { checkpoints: [checkpoint(1), checkpoint(2)] }), { type: 'checkpoint', checkpoint: checkpoint(1, { pinned: true, label: 'before' }) })
    expect(state.checkpoints.map((one) => [one.checkpoint_id, one.pinned, one.label])).toEqual([
      [2, false, ''],
      [1, true, 'before'],
    ])
    expect(state.seq).toBe(7)
  })

  it('keeps no more events than it shows', () => {
    const state = told(snapshot(1), ...Array.from({ length: EVENTS_KEPT + 20 }, (_, index) => eventMessage(index + 2)))
    expect(state.events).toHaveLength(EVENTS_KEPT)
    expect(state.events[0]?.seq).toBe(EVENTS_KEPT + 21)
  })

  it('keeps one sample a second, the latest of it, however fast they come', () => {
    const halves = Array.from({ length: 20 }, (_, index) => metrics(new Date(Date.parse('2026-11-21T10:00:00Z') + index * 500).toISOString(), { rows_in: index }))
    const state = told(snapshot(1), ...halves)
    expect(state.series.map((one) => one.rows_in)).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
  })

  it('takes a sample as a sign of life', () => {
    const running = execution({ confirmed_time: '2026-11-21T10:00:00Z', lease_expires_at: '2026-11-21T10:00:15Z' })
    const state = told(snapshot(1, { execution: running }), metrics('2026-11-21T10:01:00Z'))
    expect(state.execution.confirmed_time).toBe('2026-11-21T10:01:00Z')
    expect(state.execution.lease_expires_at).toBe('2026-11-21T10:01:15.000Z')
  })

  it('never lets totals go back', () => {
    const state = told(snapshot(1, { execution: execution({ processed_records: 500 }) }), metrics('2026-11-21T10:00:00Z', { rows_in: 400 }))
    expect(state.execution.processed_records).toBe(500)
  })

  it('keeps the series over a reconnection to the same execution', () => {
    const state = told(snapshot(1), metrics('2026-11-21T10:00:00Z'), metrics('2026-11-21T10:00:02Z'), snapshot(4))
    expect(state.series).toHaveLength(2)
  })

  it('begins anew with another execution', () => {
    const state = told(snapshot(1), metrics('2026-11-21T10:00:00Z'), snapshot(1, { execution: execution({ execution_id: 'e2' }) }))
    expect(state.series).toHaveLength(0)
  })
})
