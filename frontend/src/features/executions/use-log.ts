import { useCallback, useEffect, useRef, useState } from 'react'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Execution, LogLine, LogPage } from '../../api/types'
import { isFinal } from '../../shared/execution-state'

const TAIL_BYTES = 200_000
const POLL_MS = 1_500
const LINES_KEPT = 3_000

interface Asked {
  level: string
  search: string
  nodeId: string
  attempt: string
  follow: boolean
}

interface Log {
  lines: LogLine[]
  attempts: number[]
  error: Error | null
  pending: boolean
  retry: () => void
}

/** The tail of the log, then what is written after it, as long as one follows. */
export function useLog(execution: Execution, { level, search, nodeId, attempt, follow }: Asked): Log {
  const [log, setLog] = useState<Omit<Log, 'retry'>>({ lines: [], attempts: [], error: null, pending: true })
  const [round, setRound] = useState(0)
  const offset = useRef(-TAIL_BYTES)
  const id = execution.execution_id
  const over = isFinal(execution.status)
  const retry = useCallback(() => setRound((old) => old + 1), [])

  useEffect(() => {
    offset.current = -TAIL_BYTES
    setLog((old) => ({ ...old, lines: [], pending: true, error: null }))
  }, [id, level, search, nodeId, attempt, round])

  useEffect(() => {
    let gone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async () => {
      try {
        const page = await request<LogPage>('GET', withQuery(`/api/executions/${encodeURIComponent(id)}/logs`, { after: offset.current, level, search, node_id: nodeId, attempt }))
        if (gone) return
        offset.current = page.next_offset
        setLog((old) => ({ lines: page.results.length ? [...old.lines, ...page.results].slice(-LINES_KEPT) : old.lines, attempts: page.attempts, error: null, pending: false }))
        if (page.more) timer = setTimeout(() => void read(), 0)
        else if (follow && !over) timer = setTimeout(() => void read(), POLL_MS)
      } catch (error) {
        if (gone) return
        setLog((old) => ({ ...old, error: error as Error, pending: false }))
        if (follow && !over) timer = setTimeout(() => void read(), POLL_MS * 4)
      }
    }
    void read()
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [id, level, search, nodeId, attempt, follow, over, round])
  return { ...log, retry }
}
