import { request } from '../../api/request'

export type ExecutionAct = 'stop' | 'resume' | 'cancel' | 'checkpoint' | 'savepoint'

/** Ask something of an execution; a driver does it. */
export const askExecution = (executionId: string, act: ExecutionAct, body: Record<string, unknown> = {}) =>
  request<{ execution_id: string }>('POST', `/api/executions/${encodeURIComponent(executionId)}/${act}`, body)
