import { request } from './request'
import type { Execution } from './types'

export const readExecution = (id: string): Promise<Execution> => request('GET', `/api/executions/${encodeURIComponent(id)}`)
