import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/request'
import type { FormHelp } from './form/form-context'

/** Names and kinds of the connections a node may refer to; undefined until they are known. */
export function useConnections(): FormHelp['connections'] {
  const { data } = useQuery({
    queryKey: ['connections', 'names'],
    queryFn: async () => (await request<{ results: NonNullable<FormHelp['connections']> }>('GET', '/api/connections')).results,
    staleTime: 30_000,
  })
  return data
}
