// @vitest-environment jsdom
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
