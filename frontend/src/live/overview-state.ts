import type { ConnectionHealth, Execution } from '../api/types'
import { confirmedAt } from './confirmation'
import type { OverviewMessage, RatesMessage } from './messages'

/** All unfinished executions, the latest of every job, their rates, and connections tried since the page was opened. Numbers only rise; they may skip. */
export interface OverviewState {
  number: number
  executions: Record<string, Execution>
  rates: Record<string, RatesMessage>
  connections: Record<number, ConnectionHealth>
  /** How often a connection was heard to begin or to end failing. */
  turns: number
}

export const emptyOverview: OverviewState = { number: 0, executions: {}, rates: {}, connections: {}, turns: 0 }

function withConnection(state: OverviewState, heard: ConnectionHealth): OverviewState {
  const known = state.connections[heard.id]
  const turned = known ? known.test_ok !== heard.test_ok : heard.test_ok === false
  return { ...state, connections: { ...state.connections, [heard.id]: heard }, turns: state.turns + (turned ? 1 : 0) }
}

export function applyOverviewMessage(state: OverviewState, message: OverviewMessage): OverviewState {
  switch (message.type) {
    case 'snapshot':
      return { ...state, number: message.number, executions: Object.fromEntries(message.executions.map((one) => [one.execution_id, one])) }
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
    case 'connection':
      return withConnection(state, message.connection)
    default:
      return state
  }
}
