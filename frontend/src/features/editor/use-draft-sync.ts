import i18next from 'i18next'
import { useEffect, useRef } from 'react'
import { isUnanswered } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { DagDocument } from '../../dag/document'
import { analyseDocument, saveLayout, type Analysis } from './draft-requests'
import { saveNow } from './draft-saving'
import { useEditor } from './editor-store'
import { nameWaits } from './use-parameter-rows'

const SAVE_AFTER_MS = 700
const LAYOUT_AFTER_MS = 1200
const ANALYSE_AFTER_MS = 900
const ANALYSE_AGAIN_AFTER_MS = 10_000
const RETRY_AFTER_MS = 5000

/** Keeps what was found of `document`, which is on the screen. Where Spark did not look, what it said before still is the best that is known. */
function keepFound(document: DagDocument, found: Analysis): void {
  if (found.analysed) return useEditor.setState({ problems: found.problems, schemas: found.schemas, analysed: document, unanalysed: '' })
  const { analysed, readOnly } = useEditor.getState()
  if (analysed !== document) useEditor.setState({ problems: found.problems })
  // Errors come first, and who may only look has no need of Spark.
  if (readOnly || found.problems.some((problem) => problem.severity === 'error')) return useEditor.setState({ unanalysed: '' })
  useEditor.setState({ unanalysed: found.analysis })
  throw new Error(i18next.t('canvas:unanalysed', { why: said(found.analysis) }))
}

/** Ends the analysis under way: a drawing that is no longer on the screen, or is asked about anew, keeps no driver from others. */
let asking = new AbortController()

/** Throws where the server cannot say, or Spark did not look; the problems of the latest save stay then. */
async function analyseNow(): Promise<void> {
  const { document } = useEditor.getState().history.present
  if (Object.keys(document.nodes).length === 0) return
  asking.abort()
  const mine = new AbortController()
  asking = mine
  useEditor.setState({ analysing: true })
  try {
    const found = await analyseDocument(document, mine.signal)
    if (useEditor.getState().history.present.document === document) keepFound(document, found)
  } catch (error) {
    if (!mine.signal.aborted) throw error
  } finally {
    // Where the server cannot say either, nobody waits for it.
    if (asking === mine) useEditor.setState(useEditor.getState().history.present.document === document ? { analysing: false, checked: document } : { analysing: false })
  }
}

/** Keeps the server's draft, layout and analysis in step with the drawing. */
export function useDraftSync(): { analyseNow: () => Promise<void> } {
  const document = useEditor((state) => state.history.present.document)
  const layout = useEditor((state) => state.history.present.layout)
  const jobName = useEditor((state) => state.jobName)
  const saving = useEditor((state) => state.save.kind === 'saving')
  const saved = useEditor((state) => state.saved)
  const kind = useEditor((state) => state.save.kind)

  useEffect(() => {
    // Undone before it was sent: there is nothing to wait for.
    if (document === saved.document && kind === 'dirty') useEditor.setState({ save: { kind: 'saved', at: Date.now() } })
    if (document === saved.document || saving || kind === 'conflict' || kind === 'failed' || kind === 'offline') return
    if (kind === 'saved') useEditor.setState({ save: { kind: 'dirty' } })
    const timer = setTimeout(() => void saveNow(), SAVE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [document, saved, saving, kind])

  useEffect(() => {
    if (kind !== 'offline' && kind !== 'failed') return
    const again = () => void saveNow()
    const timer = setTimeout(again, RETRY_AFTER_MS)
    window.addEventListener('online', again)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('online', again)
    }
  }, [kind])

  const layoutWaits = useRef(false)

  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (useEditor.getState().save.kind !== 'saved' || layoutWaits.current || nameWaits()) event.preventDefault()
    }
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [])

  useEffect(() => {
    layoutWaits.current = layout !== saved.layout && jobName !== ''
    if (!layoutWaits.current) return
    const keep = () =>
      saveLayout(jobName, layout).then(
        () => useEditor.getState().jobName === jobName && useEditor.setState({ saved: { ...useEditor.getState().saved, layout } }),
        (error: unknown) => {
          if (isUnanswered(error)) wait(RETRY_AFTER_MS)
          else layoutWaits.current = false
        },
      )
    let timer: ReturnType<typeof setTimeout>
    let left = false
    const wait = (milliseconds: number) => {
      if (!left) timer = setTimeout(() => void keep(), milliseconds)
    }
    wait(LAYOUT_AFTER_MS)
    return () => {
      left = true
      clearTimeout(timer)
    }
  }, [layout, saved.layout, jobName])

  useEffect(() => {
    let left = false
    let timer: ReturnType<typeof setTimeout>
    const wait = (milliseconds: number) => {
      timer = setTimeout(() => void analyseNow().catch(() => undefined).then(again), milliseconds)
    }
    // A driver may be starting, or free soon.
    const again = () => {
      if (!left && useEditor.getState().unanalysed) wait(ANALYSE_AGAIN_AFTER_MS)
    }
    wait(ANALYSE_AFTER_MS)
    return () => {
      left = true
      clearTimeout(timer)
      asking.abort()
    }
  }, [document])

  return { analyseNow }
}
