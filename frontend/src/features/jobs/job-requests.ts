import { withQuery } from '../../api/pages'
import { request, requestFile } from '../../api/request'
import type { ConfigChange, Configs, Job, JobType, Schedule, ScheduleTimes } from '../../api/types'

const job = (name: string) => `/api/jobs/${encodeURIComponent(name)}`

export const stopExecution = (id: string) => request<unknown>('POST', `/api/executions/${encodeURIComponent(id)}/stop`, {})
export const resumeExecution = (id: string) => request<unknown>('POST', `/api/executions/${encodeURIComponent(id)}/resume`, {})
export const deleteJob = (name: string) => request<undefined>('DELETE', job(name))
export const switchJob = (name: string, on: boolean) => request<Job>('POST', `${job(name)}/${on ? 'enable' : 'disable'}`, {})
export const exportAddress = (name: string, format: 'json' | 'yaml') => `${job(name)}/export?format=${format}`

export const exportJobs = (names: readonly string[]) => requestFile('POST', '/api/job-exports', { names })

/** A draft without nodes; it is published from the editor. */
export const createJob = (name: string, title: string, type: JobType, project: string) =>
  request<Job>('POST', '/api/jobs', { schema_version: 1, name, title, type, nodes: {}, edges: {}, publish: false, project })

export const readConfigs = (name: string) => request<Configs>('GET', `${job(name)}/config`)
export const changeConfigs = (name: string, results: ConfigChange[]) => request<Configs>('PATCH', `${job(name)}/config`, { results })

export const readSchedule = (name: string) => request<Schedule>('GET', `${job(name)}/schedule`)
/** `seen`: the revision that was changed, "" where there was none. Refused where somebody else set another since. */
export const saveSchedule = (name: string, schedule: Pick<Schedule, 'schedule_type' | 'cron_expression' | 'time_zone' | 'enabled'>, seen: string) =>
  request<Schedule>('PUT', `${job(name)}/schedule`, schedule, seen ? { 'If-Match': `"${seen}"` } : { 'If-None-Match': '*' })
export const readTimes = (expression: string, zone: string) => request<ScheduleTimes>('GET', withQuery('/api/schedule-times', { cron_expression: expression, time_zone: zone }))
export const removeSchedule = (name: string) => request<undefined>('DELETE', `${job(name)}/schedule`)

export const resetExample = (name: string) => request<unknown>('POST', `/api/examples/${encodeURIComponent(name)}/reset`, {})
