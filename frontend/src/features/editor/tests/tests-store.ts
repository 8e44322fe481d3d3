import i18next from 'i18next'
import { create } from 'zustand'
import type { PipelineTestResult } from '../../../api/types'
import { isSameLogic, type DagDocument, type PipelineTest } from '../../../dag/document'
import { runTest } from '../draft-requests'
import { useEditor } from '../editor-store'
import { isUnreadable, placeOfTest } from './written-rows'

interface Ran {
  result: PipelineTestResult
  /** What was run. */
  document: DagDocument
  test: PipelineTest
}

interface TestRuns {
  jobName: string
  /** Number of the test that is shown. */
  place: number
  ran: Record<string, Ran>
  /** Name of the test that runs now. */
  running: string | null
  stop: () => void
  /** One after the other, so that each result shows when it is there. */
  run: (names: string[]) => Promise<void>
}

const failed = (name: string, message: string): PipelineTestResult => ({ name, status: 'error', seconds: 0, message, node_id: '', problems: [], outlets: [], printed: [] })

async function resultOf(jobName: string, document: DagDocument, name: string, signal: AbortSignal): Promise<PipelineTestResult> {
  try {
    const answer = await runTest(jobName, document, name, signal)
    return answer.results[0] ?? failed(name, answer.message)
  } catch (error) {
    if (signal.aborted) throw error
    return failed(name, error instanceof Error ? error.message : String(error))
  }
}

/** What the tests of the open job brought forth when they were run last. */
export const useTestRuns = create<TestRuns>((set, get) => ({
  jobName: '',
  place: 0,
  ran: {},
  running: null,
  stop: () => undefined,
  run: async (names) => {
    get().stop()
    const { jobName, history } = useEditor.getState()
    const { document } = history.present
    const asked = new AbortController()
    set({ jobName, ran: get().jobName === jobName ? get().ran : {}, stop: () => asked.abort() })
    try {
      for (const name of names) {
        const number = document.tests?.findIndex((candidate) => candidate.name === name) ?? -1
        const test = document.tests?.[number]
        if (!test) continue
        set({ running: name })
        const unreadable = isUnreadable(placeOfTest(jobName, number))
        const result = unreadable ? failed(name, i18next.t('canvas:tests.unreadable')) : await resultOf(jobName, document, name, asked.signal)
        set({ ran: { ...get().ran, [name]: { result, document, test } } })
      }
    } catch (error) {
      if (!asked.signal.aborted) throw error
    } finally {
      if (!asked.signal.aborted || get().running !== null) set({ running: null })
    }
  },
}))

export type ShownStatus = 'passed' | 'failed' | 'error' | 'running' | 'none'

export interface Shown {
  status: ShownStatus
  result: PipelineTestResult | undefined
  /** The drawing or the test has changed since. */
  outdated: boolean
}

/** How a test of the open job stands. */
export function useShown(test: PipelineTest): Shown {
  const document = useEditor((state) => state.history.present.document)
  const jobName = useEditor((state) => state.jobName)
  const runs = useTestRuns()
  const ran = runs.jobName === jobName ? runs.ran[test.name] : undefined
  const running = runs.jobName === jobName && runs.running === test.name
  return {
    status: running ? 'running' : (ran?.result.status ?? 'none'),
    result: ran?.result,
    outdated: ran !== undefined && !(isSameLogic(ran.document, document) && ran.test === test),
  }
}
