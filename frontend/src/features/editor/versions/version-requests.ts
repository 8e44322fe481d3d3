import { request } from '../../../api/request'
import type { DagDocument } from '../../../dag/document'

export interface Version {
  version: number
  comment: string
  create_time: string
  created_by: string
}

const versions = (jobName: string) => `/api/jobs/${encodeURIComponent(jobName)}/versions`

/** Newest first. */
export const readVersions = async (jobName: string) => (await request<{ results: Version[] }>('GET', versions(jobName))).results

/** Published versions never change. */
export const readVersion = (jobName: string, version: number) => request<Version & { document: DagDocument }>('GET', `${versions(jobName)}/${version}`)

/** A drawing as it would be published: a version holds every default, what is drawn may leave them open. */
export const withDefaults = async (document: DagDocument) => (await request<{ document: DagDocument }>('POST', '/api/jobs/defaults', { document })).document
