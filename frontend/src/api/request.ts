import type { Problem } from '../dag/document'
import { parseExact } from '../dag/exact-json'
import { said, sentencesReady } from './sentences/said'
import { hearClock } from './server-clock'

/** An answer that is not a success, in the server's own words. `body` is the whole `error` object. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problems: Problem[],
    readonly body: Record<string, unknown>,
  ) {
    super(message)
  }
}

export const csrfToken = () => /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? ''

interface ErrorBody {
  code?: string
  message?: string
  problems?: Problem[]
  [key: string]: unknown
}

async function failure(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as { error?: ErrorBody }
  const error = body.error ?? {}
  await sentencesReady()
  return new ApiError(response.status, error.code ?? 'unknown', said(error.message ?? `The server answered ${response.status} ${response.statusText}.`), error.problems ?? [], error)
}

let silent = () => 'The server does not answer.'

/** How it is said that there is no answer: what a browser says of that is its own, in its own language. */
export const saySilence = (words: () => string): void => {
  silent = words
}

export const silence = (): TypeError => new TypeError(silent())

/** Whether the same may be answered later: nobody did, or a server that is not well. */
export const isUnanswered = (error: unknown) => error instanceof TypeError || (error instanceof ApiError && error.status >= 500)

function unanswered(error: unknown): never {
  throw error instanceof TypeError ? silence() : error
}

async function answered(method: string, path: string, body: string | undefined, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
  const safety: Record<string, string> = method === 'GET' ? {} : { 'X-CSRFToken': csrfToken() }
  const asked = Date.now()
  const response = await fetch(path, { method, credentials: 'same-origin', headers: { Accept: 'application/json', 'Accept-Language': document.documentElement.lang, ...safety, ...headers }, body, signal }).catch(unanswered)
  hearClock(response.headers.get('Date'), asked, Date.now())
  if (!response.ok) throw await failure(response)
  return response
}

async function ask<T>(method: string, path: string, body: string | undefined, headers: Record<string, string>, signal?: AbortSignal): Promise<T> {
  const response = await answered(method, path, body, headers, signal)
  return (response.status === 204 ? undefined : parseExact(await response.text())) as T
}

/** JSON in, JSON out; what the server says in words is in the language of the page. Throws ApiError for an answer that is no success, TypeError when there is no answer, AbortError when `signal` gave up. */
export function request<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
  if (body === undefined) return ask<T>(method, path, undefined, headers, signal)
  return ask<T>(method, path, JSON.stringify(body), { 'Content-Type': 'application/json', ...headers }, signal)
}

/** JSON in, a file out. */
export const requestFile = async (method: string, path: string, body: unknown): Promise<Blob> =>
  (await answered(method, path, JSON.stringify(body), { 'Content-Type': 'application/json', Accept: '*/*' })).blob()

/** As `request`, for a text that is sent as it is. */
export const send = <T>(method: string, path: string, text: string, contentType: string): Promise<T> => ask<T>(method, path, text, { 'Content-Type': contentType })
