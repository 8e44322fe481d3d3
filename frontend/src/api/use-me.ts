import { useQuery } from '@tanstack/react-query'
import { request } from './request'
import type { Me } from './types'

/** Who is signed in and what they may do where; asked once for all who want to know. */
export const useMe = () => useQuery({ queryKey: ['me'], queryFn: () => request<Me>('GET', '/api/me'), staleTime: 300_000 })
