import { useCallback, useEffect, useRef, useState } from 'react'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Execution, LogLine, LogPage } from '../../api/types'
import { isFinal } from '../../shared/execution-state'

const TAIL_BYTES = 200_000
const POLL_MS = 1_500
const LINES_KEPT = 3_000
/** As many lines as an answer may hold. */
const LINES_ASKED = 2_000

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

/** Where the reading stands: in the file of an attempt, since the newest becomes another while one follows. */
interface Place {
  offset: number
  attempt: number | null
}

const TAIL: Place = { offset: -TAIL_BYTES, attempt: null }
/** What is looked for may stand anywhere. */
const BEGINNING: Place = { offset: 0, attempt: null }

const isOfAnother = (page: LogPage, { attempt }: Place) => attempt !== null && page.attempt !== null && page.attempt !== attempt

const withLines = (lines: LogLine[], fresh: LogLine[]): LogLine[] => (fresh.length ? [...lines, ...fresh].slice(-LINES_KEPT) : lines)

/** The tail of the log, or all of it where something is looked for, then what is written after it, as long as one follows. */
export function useLog(execution: Execution, { level, search, nodeId, attempt, follow }: Asked): Log {
  const [log, setLog] = useState<Omit<Log, 'retry'>>({ lines: [], attempts: [], error: null, pending: true })
  const [round, setRound] = useState(0)
  const start = level || search || nodeId ? BEGINNING : TAIL
  const place = useRef(start)
  const id = execution.execution_id
  const over = isFinal(execution.status)
  const retry = useCallback(() => setRound((old) => old + 1), [])

  useEffect(() => {
    place.current = start
    setLog((old) => ({ ...old, lines: [], pending: true, error: null }))
  }, [id, level, search, nodeId, attempt, start, round])

  useEffect(() => {
    let gone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      try {
        const page = await request<LogPage>('GET', withQuery(`/api/executions/${encodeURIComponent(id)}/logs`, { after: place.current.offset, level, search, node_id: nodeId, attempt, limit: LINES_ASKED }))
        if (gone) return
        const { attempts, results } = page
        const isAnother = isOfAnother(page, place.current)
        place.current = isAnother ? start : { offset: page.next_offset, attempt: page.attempt ?? place.current.attempt }
        setLog((old) => ({ lines: isAnother ? [] : withLines(old.lines, results), attempts, error: null, pending: isAnother || page.more }))
        if (isAnother || page.more) timer = setTimeout(() => void ask(), 0)
        else if (follow && !over) timer = setTimeout(() => void ask(), POLL_MS)
      } catch (error) {
        if (gone) return
        setLog((old) => ({ ...old, error: error as Error, pending: false }))
        if (follow && !over) timer = setTimeout(() => void ask(), POLL_MS * 4)
      }
    }
    void ask()
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [id, level, search, nodeId, attempt, follow, over, start, round])
  return { ...log, retry }
}
