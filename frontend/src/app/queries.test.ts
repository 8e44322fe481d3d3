import { onlineManager } from '@tanstack/react-query'
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

it('the server is asked while the browser knows of no network', async () => {
  onlineManager.setOnline(false)
  try {
    const client = queryClient()
    expect(await client.fetchQuery({ queryKey: ['jobs'], queryFn: () => Promise.resolve('here') })).toBe('here')
    const tried = client.getMutationCache().build(client, { ...client.getDefaultOptions().mutations, mutationFn: () => Promise.resolve('tried') })
    expect(await tried.execute(undefined)).toBe('tried')
  } finally {
    onlineManager.setOnline(true)
  }
})
