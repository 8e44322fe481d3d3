import { useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import type { Connection, Execution } from '../api/types'
import { newerOf } from '../live/confirmation'
import { overviewStore } from '../live/overview-stream'
import type { OverviewState } from '../live/overview-state'
import { isRateOfNow } from './execution-state'
import { useNow } from './use-now'

const newestByJob = new WeakMap<OverviewState['executions'], Map<string, Execution>>()

function byJob(executions: OverviewState['executions']): Map<string, Execution> {
  let found = newestByJob.get(executions)
  if (!found) {
    found = new Map()
    for (const one of Object.values(executions)) {
      const known = found.get(one.job_name)
      if (!known || known.create_time < one.create_time) found.set(one.job_name, one)
    }
    newestByJob.set(executions, found)
  }
  return found
}

/** The newer of what a list said and what the live link said since. */
export function useLatest(jobName: string, listed: Execution | null): Execution | null {
  const heard = useStore(overviewStore, (overview) => byJob(overview.state.executions).get(jobName))
  if (!heard) return listed
  if (!listed || heard.create_time > listed.create_time) return heard
  return heard.execution_id === listed.execution_id ? newerOf(heard, listed) : listed
}

/** The same for one execution of a list. */
export function useHeard(listed: Execution): Execution {
  const heard = useStore(overviewStore, (overview) => overview.state.executions[listed.execution_id])
  return heard ? newerOf(heard, listed) : listed
}

/** A connection with what was heard of it since the list was read; what was found before it was changed counts no more. */
export function useHeardConnection(listed: Connection): Connection {
  const heard = useStore(overviewStore, (overview) => overview.state.connections[listed.id])
  if (!heard?.test_time || heard.update_time < listed.update_time || (listed.test_time && listed.test_time > heard.test_time)) return listed
  const { test_time, test_ok, test_step, test_message, failing_since } = heard
  return { ...listed, test_time, test_ok, test_step, test_message, failing_since }
}

/** Rows per second that come in now: as the live link told it, else as the server `listed` it of late; null where nothing runs. */
export function useRateNow(execution: Execution | null | undefined, listed: number | null): number | null {
  const heard = useStore(overviewStore, (overview) => overview.state.rates[execution?.execution_id ?? ''])
  const now = useNow()
  if (execution?.status !== 'RUNNING') return null
  return heard && isRateOfNow(execution, heard.time, now) ? heard.in_per_second : listed
}

const CALM_MS = 1_500

/** Reads a list anew once executions have changed, or connections begun or ended to fail: while they go on to, a second and a half
 * behind each reading. A reading is waited for: one that is begun anew and anew would never end. */
export function useRefetchOnChange(refetch: () => Promise<unknown>): void {
  const number = useStore(overviewStore, (overview) => overview.state.number + overview.state.turns)
  const latest = useRef({ refetch, number })
  const seen = useRef(number)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const left = useRef(false)
  useEffect(() => {
    latest.current = { refetch, number }
  })
  useEffect(() => {
    const read = async () => {
      seen.current = latest.current.number
      await latest.current.refetch().catch(() => undefined) // the list shows it
      timer.current = undefined
      begin()
    }
    const begin = () => {
      if (left.current || latest.current.number === seen.current || timer.current !== undefined) return
      timer.current = setTimeout(() => void read(), CALM_MS)
    }
    begin()
  }, [number])
  useEffect(() => {
    left.current = false
    return () => {
      left.current = true
      clearTimeout(timer.current)
      timer.current = undefined
    }
  }, [])
}
