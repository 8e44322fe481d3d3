import type { Overview } from '../../api/types'
import type { OverviewState } from '../../live/overview-state'
import { isRateOfNow } from '../../shared/execution-state'

/** Rows per second of everything that runs. */
export interface RatesInAll {
  in: number
  out: number
  rejected: number
}

/** What the overview said while the live link has not spoken of each that runs: a sum of some of them would pass for the whole. */
export function ratesInAll({ executions, rates }: Pick<OverviewState, 'executions' | 'rates'>, overview: Pick<Overview, 'in_per_second' | 'out_per_second' | 'rejected_per_second'>, now: number): RatesInAll {
  const running = Object.values(executions).filter(({ status }) => status === 'RUNNING')
  const heard = running.flatMap((execution) => {
    const rate = rates[execution.execution_id]
    return rate ? [{ execution, rate }] : []
  })
  if (running.length === 0 || heard.length < running.length) return { in: overview.in_per_second, out: overview.out_per_second, rejected: overview.rejected_per_second }
  // Whose driver fell silent is no part of now; one that is idle said 0 last.
  const current = heard.filter(({ execution, rate }) => isRateOfNow(execution, rate.time, now))
  const sum = (of: 'in_per_second' | 'out_per_second' | 'rejected_per_second') => current.reduce((total, { rate }) => total + rate[of], 0)
  return { in: sum('in_per_second'), out: sum('out_per_second'), rejected: sum('rejected_per_second') }
}
