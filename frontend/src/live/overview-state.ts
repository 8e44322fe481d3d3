import type { Execution } from '../api/types'
import { confirmedAt } from './confirmation'
import type { OverviewMessage, RatesMessage } from './messages'

/** All unfinished executions, the latest of every job, and their rates. Numbers only rise; they may skip. */
export interface OverviewState {
  number: number
  executions: Record<string, Execution>
  rates: Record<string, RatesMessage>
}

export const emptyOverview: OverviewState = { number: 0, executions: {}, rates: {} }

export function applyOverviewMessage(state: OverviewState, message: OverviewMessage): OverviewState {
  switch (message.type) {
    case 'snapshot':
      return { number: message.number, executions: Object.fromEntries(message.executions.map((one) => [one.execution_id, one])), rates: state.rates }
    case 'execution': {
      const known = state.executions[message.execution.execution_id]
      if (known && known.seq > message.execution.seq) return state
      return { ...state, number: Math.max(state.number, message.number), executions: { ...state.executions, [message.execution.execution_id]: message.execution } }
    }
    case 'rates': {
      const known = state.executions[message.execution_id]
      const executions = known ? { ...state.executions, [message.execution_id]: confirmedAt(known, message.time) } : state.executions
      return { ...state, executions, rates: { ...state.rates, [message.execution_id]: message } }
    }
    default:
      return state
  }
}
