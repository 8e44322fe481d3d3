import type { ConnectionHealth, Execution } from '../api/types'
import { confirmedAt } from './confirmation'
import { isFinal } from './final'
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

function fromSnapshot(state: OverviewState, { number, executions }: Extract<OverviewMessage, { type: 'snapshot' }>): OverviewState {
  const found = Object.fromEntries(executions.map((one) => [one.execution_id, one]))
  const gone = new Set(Object.keys(state.rates).filter((id) => !(id in found)))
  return { ...state, number, executions: found, rates: without(state.rates, gone) }
}

/** What else is known of the same job and no longer needed: it has ended, and is not its newest. */
function outlived(executions: OverviewState['executions'], { job_name }: Execution): Set<string> {
  const ofJob = Object.values(executions).filter((one) => one.job_name === job_name)
  const newest = ofJob.reduce((one, other) => (other.create_time > one.create_time ? other : one))
  return new Set(ofJob.filter((one) => one !== newest && isFinal(one.status)).map((one) => one.execution_id))
}

const without = <T>(known: Record<string, T>, gone: ReadonlySet<string>): Record<string, T> =>
  gone.size === 0 ? known : Object.fromEntries(Object.entries(known).filter(([id]) => !gone.has(id)))

function withExecution(state: OverviewState, heard: Execution, number: number): OverviewState {
  const executions = { ...state.executions, [heard.execution_id]: heard }
  const gone = outlived(executions, heard)
  return { ...state, number: Math.max(state.number, number), executions: without(executions, gone), rates: without(state.rates, gone) }
}

export function applyOverviewMessage(state: OverviewState, message: OverviewMessage): OverviewState {
  switch (message.type) {
    case 'snapshot':
      return fromSnapshot(state, message)
    case 'execution': {
      const known = state.executions[message.execution.execution_id]
      if (known && known.seq > message.execution.seq) return state
      return withExecution(state, message.execution, message.number)
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
