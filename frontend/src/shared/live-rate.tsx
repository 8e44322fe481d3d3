import { rate } from './numbers'
import { useLatest, useRateNow } from './overview'
import type { Execution } from '../api/types'

/** Rows per second now: the live figure, else the listed one; nothing where nothing runs. */
export function LiveRate({ jobName, latest, listed }: { jobName: string; latest: Execution | null; listed: number | null }) {
  return <>{rate(useRateNow(useLatest(jobName, latest), listed))}</>
}
