import type { Problem } from '../dag/document'
import { ApiError, csrfToken, silence } from './request'
import { said } from './sentences/said'

interface Refusal {
  error?: { code?: string; message?: string; problems?: Problem[] }
}

function answerOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** A file as the form field `file`, with how much of it is sent (0 to 1). Throws like `request`; AbortError when `signal` gave up. */
export function upload<T>(path: string, file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest()
    sending.open('POST', path)
    sending.setRequestHeader('Accept', 'application/json')
    sending.setRequestHeader('X-CSRFToken', csrfToken())
    sending.upload.onprogress = (event) => onProgress(event.lengthComputable ? event.loaded / event.total : 0)
    sending.onload = () => {
      const answer = answerOf(sending.responseText)
      if (sending.status < 300) return resolve(answer as T)
      const error = (answer as Refusal).error ?? {}
      reject(new ApiError(sending.status, error.code ?? 'unknown', said(error.message ?? `The server answered ${sending.status}.`), error.problems ?? [], error))
    }
    sending.onerror = () => reject(silence())
    sending.onabort = () => reject(new DOMException('the upload was cancelled', 'AbortError'))
    signal.addEventListener('abort', () => sending.abort())
    const form = new FormData()
    form.append('file', file)
    sending.send(form)
  })
}
