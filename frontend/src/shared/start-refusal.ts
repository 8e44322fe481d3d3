import { ApiError } from '../api/request'

interface Detail {
  execution_id?: string
  offers?: string[]
}

/** The ways out that the server names with a refused start: from the beginning, or the execution that stands in the way. */
export function startRefusal(error: unknown): { beginning: boolean; executionId: string | undefined } {
  const detail: Detail = error instanceof ApiError ? { ...error.body, ...(error.body.detail as object | undefined) } : {}
  return { beginning: detail.offers?.includes('beginning') ?? false, executionId: detail.execution_id }
}
