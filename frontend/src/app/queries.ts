import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError, isUnanswered } from '../api/request'

const RETRIES = 2

/** An answer is final; only silence is asked again. */
const retry = (failures: number, error: Error) => isUnanswered(error) && failures < RETRIES

/** All that is asked of the server. An answer to nobody, on a page that was signed in, has it ask who is signed in: the shell goes by that. */
export function queryClient(): QueryClient {
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        if (error instanceof ApiError && error.status === 401 && queryKey[0] !== 'me') void client.invalidateQueries({ queryKey: ['me'] })
      },
    }),
    // Whatever the browser thinks of the network: a server on this machine answers without one, and of another the silence is told.
    defaultOptions: { queries: { retry, staleTime: 5_000, refetchOnWindowFocus: true, refetchOnReconnect: true, networkMode: 'always' }, mutations: { networkMode: 'always' } },
  })
  return client
}
