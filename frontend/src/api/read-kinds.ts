import { request } from './request'
import type { ConnectionKind } from './types'

/** The kinds of connections, with the schema of each. */
export const readKinds = async () => (await request<{ results: ConnectionKind[] }>('GET', '/api/connection-kinds')).results
