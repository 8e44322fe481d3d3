import { request } from './request'

/** A name for one question. `crypto.randomUUID` is there on safe origins only. */
export function questionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** As `request`, for what Spark works on: when `signal` gives up, the server is told to leave off too. */
export async function askDriver<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const question = questionId()
  // It is a courtesy: what is not cancelled ends by itself.
  const cancel = () => void request('DELETE', `/api/questions/${question}`).catch(() => undefined)
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await request<T>('POST', path, body, { 'X-Question-Id': question }, signal)
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}
