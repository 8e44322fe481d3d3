import { isActive } from './execution-state'
import { rate } from './numbers'
import { useLatest, useRates } from './overview'
import type { Execution } from '../api/types'

/** Rows per second now: the live figure, else the listed one; nothing where nothing runs. */
export function LiveRate({ jobName, latest, listed }: { jobName: string; latest: Execution | null; listed: number | null }) {
  const execution = useLatest(jobName, latest)
  const rates = useRates(execution?.execution_id)
  const running = execution !== null && isActive(execution.status)
  return <>{rate(running ? (rates?.in_per_second ?? listed) : null)}</>
}
