import { request } from './request'

export type StartFrom = 'continue' | 'beginning' | number

/** Ask for an execution; without `from` it goes on where the last one ended, if it can. */
export const startJob = (name: string, from?: StartFrom): Promise<{ execution_id: string }> =>
  request('POST', `/api/jobs/${encodeURIComponent(name)}/start`, from === undefined ? {} : { from })
