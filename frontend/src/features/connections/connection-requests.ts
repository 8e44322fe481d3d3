import { request } from '../../api/request'
import type { Connection, ConnectionTest } from '../../api/types'

const path = (id: number) => `/api/connections/${id}`

export interface ConnectionContent {
  name: string
  description: string
  config: Record<string, unknown>
  secrets: Record<string, string | null>
}

export type Trial = Pick<ConnectionContent, 'config' | 'secrets'>

export const readConnections = async () => (await request<{ results: Connection[] }>('GET', '/api/connections')).results
export const createConnection = (kind: string, project: string, content: ConnectionContent) => request<Connection>('POST', '/api/connections', { kind, project, ...content })
/** Settings and secrets are those of the connection as it was `begun` with: refused where it is another by now. */
export const changeConnection = (begun: Connection, changes: Partial<ConnectionContent>) =>
  request<Connection>('PATCH', path(begun.id), changes, changes.config || changes.secrets ? { 'If-Match': `"${begun.update_time}"` } : {})
export const deleteConnection = (id: number) => request<undefined>('DELETE', path(id))
/** As it is kept, or as `change` would make it; nothing of that is kept. */
export const testConnection = (id: number, change: Trial | null) => request<ConnectionTest>('POST', `${path(id)}/test`, change ?? {})
/** `name`: by which its messages call it, if it has one yet. */
export const testNewConnection = (kind: string, project: string, name: string, trial: Trial) => request<ConnectionTest>('POST', '/api/connections/test', { kind, project, ...(name ? { name } : {}), ...trial })
