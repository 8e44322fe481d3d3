import { request } from '../../api/request'
import type { Token, TokenMade } from '../../api/types'

export const readTokens = async () => (await request<{ results: Token[] }>('GET', '/api/tokens')).results
export const makeToken = (name: string, scope: Token['scope']) => request<TokenMade>('POST', '/api/tokens', { name, scope })
export const revokeToken = (id: number) => request<undefined>('DELETE', `/api/tokens/${id}`)
