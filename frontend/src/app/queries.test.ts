import { expect, it, vi } from 'vitest'
import { ApiError } from '../api/request'
import { queryClient } from './queries'

const refused = (status: number) => () => Promise.reject(new ApiError(status, 'refused', 'no', [], {}))

it('an answer to nobody has the page ask who is signed in', async () => {
  const client = queryClient()
  const who = vi.fn(() => Promise.resolve('ed'))
  await client.fetchQuery({ queryKey: ['me'], queryFn: who })
  await client.fetchQuery({ queryKey: ['execution', 'e-1'], queryFn: refused(404) }).catch(() => undefined)
  expect(client.getQueryState(['me'])?.isInvalidated).toBe(false)
  await client.fetchQuery({ queryKey: ['execution', 'e-1'], queryFn: refused(401) }).catch(() => undefined)
  expect(client.getQueryState(['me'])?.isInvalidated).toBe(true)
})
