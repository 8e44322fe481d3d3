import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useStore } from 'zustand'
import { readExecution } from '../../api/read-execution'
import { ApiError, request } from '../../api/request'
import type { Execution } from '../../api/types'
import type { Catalogue, DagDocument, Layout, NodeType } from '../../dag/document'
import type { ExecutionState } from '../../live/execution-state'
import { executionStream } from '../../live/execution-stream'
import { newerOf } from '../../live/confirmation'
import { linkOf, type Link } from '../../live/link-state'
import { isActive } from '../../shared/execution-state'
import { useOwnNow } from '../../shared/use-now'

const job = (name: string) => `/api/jobs/${encodeURIComponent(name)}`

/** A running execution that has nothing to tell is asked for its lease this often. */
const CONFIRM_MS = 6_000

/** What the page shows of one execution: by the live link, and by one request until it speaks. */
export interface Watched {
  execution: Execution | undefined
  live: ExecutionState | null
  link: Link
  error: Error | null
  retry: () => void
}

/** One that its viewer may no longer see is told as such, and no longer shown as it was. */
export function useExecution(executionId: string): Watched {
  const stream = useMemo(() => executionStream(executionId), [executionId])
  const { state, link } = useStore(stream.store)
  const finalTrace = state && state.execution.status === 'FAILED' ? state.seq : 0
  const asked = useQuery({
    queryKey: ['execution', executionId, finalTrace],
    refetchInterval: (query) => (query.state.data && isActive(query.state.data.status) ? CONFIRM_MS : false),
    queryFn: () => readExecution(executionId),
    placeholderData: (old) => (old?.execution_id === executionId ? old : undefined),
  })
  const hidden = asked.error instanceof ApiError && asked.error.status === 404
  useEffect(() => (hidden ? undefined : stream.open()), [stream, hidden])
  const now = useOwnNow()
  const heard = state?.execution.execution_id === executionId ? state : null
  const execution = heard ? { ...(asked.data ? newerOf(heard.execution, asked.data) : heard.execution), error_stack_trace: asked.data?.error_stack_trace ?? null, checkpoint_overdue: asked.data?.checkpoint_overdue ?? null, checkpoint_storage_warning: asked.data?.checkpoint_storage_warning ?? null, delivery: asked.data?.delivery ?? null } : asked.data
  return { execution: hidden ? undefined : execution, live: heard, link: linkOf(now, link), error: execution && !hidden ? null : asked.error, retry: () => void asked.refetch() }
}

export interface Drawing {
  document: DagDocument
  /** What the version runs with as it was published. */
  settings: Record<string, unknown>
  layout: Layout
  catalogue: Catalogue
}

/** The version that runs, where its nodes were last drawn, and what their types look like. */
export function useDrawing(execution: Execution | undefined): { drawing: Drawing | undefined; error: Error | null } {
  const name = execution?.job_name ?? ''
  const version = execution?.version ?? 0
  const document = useQuery({ queryKey: ['version', name, version], queryFn: () => request<{ document: DagDocument; settings: Record<string, unknown> }>('GET', `${job(name)}/versions/${version}`), enabled: name !== '', staleTime: Infinity })
  const layout = useQuery({ queryKey: ['layout', name], queryFn: () => request<{ layout: Partial<Layout> }>('GET', `${job(name)}/layout`), enabled: name !== '', retry: false })
  const types = useQuery({ queryKey: ['node-types'], queryFn: () => request<{ results: NodeType[] }>('GET', '/api/node-types'), staleTime: 600_000 })
  const places = layout.data?.layout
  const drawing = useMemo(() => {
    if (!document.data || !types.data || (!places && !layout.isError)) return undefined
    return {
      document: document.data.document,
      settings: document.data.settings,
      layout: { positions: places?.positions ?? {}, notes: places?.notes ?? [], groups: places?.groups ?? [] },
      catalogue: new Map(types.data.results.map((type) => [type.type, type])),
    }
  }, [document.data, types.data, places, layout.isError])
  return { drawing, error: document.error ?? types.error }
}
