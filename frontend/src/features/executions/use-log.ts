import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Execution, LogLine, LogPage } from '../../api/types'
import { answer } from '../../shared/answers'
import { isFinal } from '../../shared/execution-state'
import { noLines, withEarlier, withNewer, type LogLines } from './log-lines'

const TAIL_BYTES = 200_000
const POLL_MS = 1_500
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
  /** Whether lines before these can be asked for. */
  hasEarlier: boolean
  loadingEarlier: boolean
  /** `before`: is called just before they are shown. */
  readEarlier: (before: () => void) => Promise<void>
}

interface Read extends LogLines {
  attempts: number[]
  error: Error | null
  pending: boolean
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

const askedPage = (id: string, { level, search, nodeId }: Asked, more: { after: number; attempt: string } | { before: number; attempt: string }) =>
  request<LogPage>('GET', withQuery(`/api/executions/${encodeURIComponent(id)}/logs`, { ...more, level, search, node_id: nodeId, limit: LINES_ASKED }))

/** Reads what stands before the lines, up to some that fit. Lines that are others by then, as after another filter, stay as they are. */
function useEarlier(id: string, asked: Asked, log: Read, place: RefObject<Place>, put: (change: (old: Read) => Read) => void) {
  const [loading, setLoading] = useState(false)
  const readEarlier = async (before: () => void) => {
    const { attempt } = place.current
    const isSame = (old: Read) => old.lines[0] === log.lines[0]
    setLoading(true)
    try {
      let page: LogPage | undefined
      for (let from = log.earlier ?? 0; from > 0 && !page?.results.length; from = page.next_offset) page = await askedPage(id, asked, { before: from, attempt: String(attempt ?? asked.attempt) })
      before()
      put((old) => (page && isSame(old) ? { ...old, ...withEarlier(old, page) } : old))
    } catch (error) {
      answer(false, (error as Error).message)
    } finally {
      setLoading(false)
    }
  }
  return { hasEarlier: (log.earlier ?? 0) > 0, loadingEarlier: loading, readEarlier }
}

/** The tail of the log, or all of it where something is looked for, then what is written after it, as long as one follows. */
export function useLog(execution: Execution, asked: Asked): Log {
  const { level, search, nodeId, attempt, follow } = asked
  const [log, setLog] = useState<Read>({ ...noLines(false), attempts: [], error: null, pending: true })
  const [round, setRound] = useState(0)
  const start = level || search || nodeId ? BEGINNING : TAIL
  const place = useRef(start)
  const id = execution.execution_id
  const over = isFinal(execution.status)
  const retry = useCallback(() => setRound((old) => old + 1), [])

  useEffect(() => {
    place.current = start
    setLog((old) => ({ ...old, ...noLines(start === BEGINNING), pending: true, error: null }))
  }, [id, level, search, nodeId, attempt, start, round])

  useEffect(() => {
    let gone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      try {
        const page = await askedPage(id, { level, search, nodeId, attempt, follow }, { after: place.current.offset, attempt })
        if (gone) return
        const { attempts, results } = page
        const isAnother = isOfAnother(page, place.current)
        place.current = isAnother ? start : { offset: page.next_offset, attempt: page.attempt ?? place.current.attempt }
        setLog((old) => ({ ...(isAnother ? noLines(start === BEGINNING) : withNewer(old, results)), attempts, error: null, pending: isAnother || page.more }))
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
  return { ...log, retry, ...useEarlier(id, asked, log, place, setLog) }
}
