import { expect, it, vi } from 'vitest'
import { request, saySilence } from './request'

it('says in the words of the page that there is no answer', async () => {
  saySilence(() => '服务器没有响应。')
  vi.stubGlobal('fetch', vi.fn<typeof fetch>().mockRejectedValue(new TypeError('Failed to fetch')))
  const asked = request('GET', '/api/me')
  await expect(asked).rejects.toThrow('服务器没有响应。')
  await expect(asked).rejects.toBeInstanceOf(TypeError)
})

it('leaves an end that was asked for as it is', async () => {
  vi.stubGlobal('fetch', vi.fn<typeof fetch>().mockRejectedValue(new DOMException('given up', 'AbortError')))
  await expect(request('GET', '/api/me')).rejects.toThrow('given up')
})

it('an answer that is sent back is the same to the last digit', async () => {
  const answer = '{"config":{"offset":1234567890123456789}}'
  const server = vi.fn<typeof fetch>().mockImplementation(() => Promise.resolve(new Response(answer)))
  vi.stubGlobal('fetch', server)
  await request('PUT', '/api/jobs/orders/draft', await request('GET', '/api/jobs/orders/draft'))
  expect(server.mock.calls[1]?.[1]?.body).toBe(answer)
})
