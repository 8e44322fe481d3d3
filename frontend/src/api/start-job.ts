import { request } from './request'
import type { JobDetail } from './types'

export type StartFrom = 'continue' | 'beginning' | number

const job = (name: string) => `/api/jobs/${encodeURIComponent(name)}`

/** Ask for an execution; without `from` it goes on where the last one ended, if it can. Parameters that are not named have their defaults. */
export const startJob = (name: string, from?: StartFrom, parameters?: Record<string, unknown>): Promise<{ execution_id: string }> =>
  request('POST', `${job(name)}/start`, { ...(from === undefined ? {} : { from }), ...(parameters === undefined ? {} : { parameters }) })

/** The job as it would start now: its current version's document, its latest execution. */
export const readStart = (name: string): Promise<JobDetail> => request('GET', job(name))
