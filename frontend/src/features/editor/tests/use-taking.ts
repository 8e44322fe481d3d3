import i18next from 'i18next'
import { useEffect, useRef, useState } from 'react'
import { familyOf, type PipelineTest } from '../../../dag/document'
import { useDocument, useEditor } from '../editor-store'
import { useSamples } from '../samples/use-samples'
import { takenFromPreview } from './take-from-preview'
import { useTestRuns } from './tests-store'

const NONE: PipelineTest[] = []

function freeTestName(tests: readonly PipelineTest[], nameOf: (number: number) => string): string {
  const taken = new Set(tests.map((test) => test.name))
  let number = tests.length + 1
  while (taken.has(nameOf(number))) number += 1
  return nameOf(number)
}

export function writeTests(tests: PipelineTest[], key = '') {
  const { history, change } = useEditor.getState()
  change({ document: { ...history.present.document, tests } }, key)
}

/** One more test of the open job, under a free name; it is the one that is shown then. */
export function addTest(given: Omit<PipelineTest, 'name'> = {}) {
  const now = useEditor.getState().history.present.document.tests ?? NONE
  writeTests([...now, { name: freeTestName(now, (number) => i18next.t('canvas:tests.newName', { number })), ...given }])
  useTestRuns.setState({ place: now.length })
}

/**
 * Makes a test of rows and of what comes of them at the selected node, as its preview shows it.
 * A second click while it reads gives up, and so does leaving.
 */
export function useTaking(done: () => void = () => undefined) {
  const document = useDocument()
  const selected = useEditor((state) => state.selected)
  const { samples } = useSamples()
  const [reading, setReading] = useState(false)
  const [why, setWhy] = useState('')
  const asked = useRef<AbortController | null>(null)
  useEffect(() => () => asked.current?.abort(), [])
  const [nodeId] = [...selected].filter((id) => document.nodes[id] && familyOf(document.nodes[id].type) !== 'source')
  const act = async () => {
    if (reading) return asked.current?.abort()
    if (!nodeId || selected.size !== 1) return
    const own = new AbortController()
    const { jobName } = useEditor.getState()
    asked.current = own
    setReading(true)
    setWhy('')
    try {
      const taken = await takenFromPreview(document, nodeId, samples, own.signal)
      if (own.signal.aborted || useEditor.getState().jobName !== jobName) return
      addTest(taken)
      done()
    } catch (error) {
      if (!own.signal.aborted) setWhy(error instanceof Error ? error.message : String(error))
    } finally {
      setReading(false)
    }
  }
  return { reading, why, act, possible: nodeId !== undefined && selected.size === 1 }
}
