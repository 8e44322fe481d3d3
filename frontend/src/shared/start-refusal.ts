import { ApiError } from '../api/request'

interface Detail {
  execution_id?: string
  offers?: (string | number)[]
}

interface Ways {
  beginning: boolean
  /** Where the checkpoint stands that may be restored instead. */
  checkpoint: string | undefined
  executionId: string | undefined
}

/** The ways out that the server names with a refused start: a checkpoint, from the beginning, or the execution that stands in the way. */
export function startRefusal(error: unknown): Ways {
  const detail: Detail = error instanceof ApiError ? { ...error.body, ...(error.body.detail as object | undefined) } : {}
  const checkpoint = detail.offers?.find((offer) => typeof offer === 'number')
  return { beginning: detail.offers?.includes('beginning') ?? false, checkpoint: checkpoint === undefined ? undefined : `/checkpoints?checkpoint=${checkpoint}`, executionId: detail.execution_id }
}
