import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { askDriver, questionId } from './ask-driver'

interface Sent {
  method: string
  path: string
  question: string | undefined
}

let sent: Sent[]

beforeEach(() => {
  sent = []
  vi.stubGlobal('document', { cookie: '', documentElement: { lang: 'en' } })
  vi.stubGlobal('fetch', (path: string, { method, headers, signal }: { method: string; headers: Record<string, string>; signal?: AbortSignal }) => {
    sent.push({ method, path, question: headers['X-Question-Id'] })
    if (method === 'DELETE') return Promise.resolve(new Response(null, { status: 204 }))
    if (!signal) return Promise.resolve(new Response('{"rows": 3}', { status: 200 }))
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError'))))
  })
})
afterEach(() => vi.unstubAllGlobals())

it('names are UUIDs, each another', () => {
  const names = [questionId(), questionId()]
  expect(names.every((name) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name))).toBe(true)
  expect(names[0]).not.toBe(names[1])
})

it('what is given up is cancelled on the server, by its name', async () => {
  const gone = new AbortController()
  const asked = askDriver('/api/jobs/preview', {}, gone.signal)
  gone.abort()
  await expect(asked).rejects.toThrow('given up')
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'DELETE'])
  expect(sent[1]?.path).toBe(`/api/questions/${sent[0]?.question}`)
})

it('what was answered is not cancelled any more', async () => {
  const late = new AbortController()
  vi.stubGlobal('fetch', (path: string, { method, headers }: { method: string; headers: Record<string, string> }) => {
    sent.push({ method, path, question: headers['X-Question-Id'] })
    return Promise.resolve(new Response('{"rows": 3}', { status: 200 }))
  })
  expect(await askDriver<{ rows: number }>('/api/jobs/preview', {}, late.signal)).toEqual({ rows: 3 })
  late.abort()
  expect(sent).toHaveLength(1)
})
