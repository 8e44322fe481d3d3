import { Button, Loader } from '@mantine/core'
import { IconPlayerPlay, IconPlus, IconTableImport } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { familyOf, type PipelineTest } from '../../../dag/document'
import { StateGlyph } from '../../../shared/state-glyph'
import { useDocument, useEditor } from '../editor-store'
import { takenFromPreview } from './take-from-preview'
import { TestForm } from './test-form'
import { GLYPHS, TestResult } from './test-result'
import { useShown, useTestRuns } from './tests-store'
import './tests.css'

const NONE: PipelineTest[] = []

function write(tests: PipelineTest[], key = '') {
  const { history, change } = useEditor.getState()
  change({ document: { ...history.present.document, tests } }, key)
}

function freeTestName(tests: readonly PipelineTest[], nameOf: (number: number) => string): string {
  const taken = new Set(tests.map((test) => test.name))
  let number = tests.length + 1
  while (taken.has(nameOf(number))) number += 1
  return nameOf(number)
}

/** Rows and what is expected as the preview of the selected node shows them; a click while it reads gives up. */
function useTaking(take: (test: Omit<PipelineTest, 'name'>) => void) {
  const document = useDocument()
  const selected = useEditor((state) => state.selected)
  const [reading, setReading] = useState(false)
  const [why, setWhy] = useState('')
  const asked = useRef<AbortController | null>(null)
  const [nodeId] = [...selected].filter((id) => document.nodes[id] && familyOf(document.nodes[id].type) !== 'source')
  const act = async () => {
    if (reading) return asked.current?.abort()
    if (!nodeId || selected.size !== 1) return
    const own = new AbortController()
    asked.current = own
    setReading(true)
    setWhy('')
    try {
      take(await takenFromPreview(document, nodeId, own.signal))
    } catch (error) {
      if (!own.signal.aborted) setWhy(error instanceof Error ? error.message : String(error))
    } finally {
      setReading(false)
    }
  }
  return { reading, why, act, possible: nodeId !== undefined && selected.size === 1 }
}

function Item({ test, chosen, choose }: { test: PipelineTest; chosen: boolean; choose: () => void }) {
  const { t } = useTranslation('canvas')
  const { status, outdated, result } = useShown(test)
  return (
    <li>
      <button type="button" className="pw-tests-item" aria-current={chosen || undefined} data-outdated={outdated || undefined} data-status={status} onClick={choose}>
        <StateGlyph state={GLYPHS[status]} label={t(`tests.status.${status}`)} />
        <span className="pw-cut" title={test.name}>{test.name}</span>
        {result && status !== 'running' && <small>{t('tests.seconds', { seconds: result.seconds.toFixed(1) })}</small>}
      </button>
    </li>
  )
}

/** Tests that are kept with the job: rows for its sources, and those that are to come out. */
export function TestsTab() {
  const { t } = useTranslation('canvas')
  const tests = useDocument().tests ?? NONE
  const readOnly = useEditor((state) => state.readOnly)
  const running = useTestRuns((state) => state.running)
  const [place, setPlace] = useState(0)
  const chosen = Math.min(place, tests.length - 1)
  const add = (given: Omit<PipelineTest, 'name'> = {}) => {
    const now = useEditor.getState().history.present.document.tests ?? NONE
    write([...now, { name: freeTestName(now, (number) => t('tests.newName', { number })), ...given }])
    setPlace(now.length)
  }
  const taking = useTaking(add)
  const acts = !readOnly && (
    <>
      <Button size="compact-xs" leftSection={<IconPlus size={12} />} onClick={() => add()}>{t(tests.length > 0 ? 'tests.add' : 'tests.addFirst')}</Button>
      <Button size="compact-xs" leftSection={taking.reading ? <Loader size={12} /> : <IconTableImport size={12} />} disabled={!taking.possible && !taking.reading} title={t(taking.possible ? 'tests.fromPreviewHelp' : 'tests.fromPreviewChoose')} onClick={() => void taking.act()}>
        {t(taking.reading ? 'tests.taking' : 'tests.fromPreview')}
      </Button>
    </>
  )
  const refused = taking.why && <p className="pw-field-error" role="alert"><StateGlyph state="failed" /><span>{taking.why}</span></p>
  const test = tests[chosen]
  if (!test) {
    return (
      <div className="pw-tests-empty">
        <p>{t(readOnly ? 'tests.emptyRead' : 'tests.empty')}</p>
        <p>{t('tests.emptyMore')}</p>
        <div>{acts}</div>
        {refused}
      </div>
    )
  }
  return (
    <div className="pw-tests">
      <nav className="pw-tests-list" aria-label={t('tests.list')}>
        {!readOnly && (
          <div className="pw-tests-acts">
            {running === null ? (
              <Button size="compact-xs" leftSection={<IconPlayerPlay size={12} />} onClick={() => void useTestRuns.getState().run(tests.map((one) => one.name))}>{t('tests.runAll')}</Button>
            ) : (
              <Button size="compact-xs" leftSection={<Loader size={12} />} onClick={() => useTestRuns.getState().stop()}>{t('tests.cancel')}</Button>
            )}
            {acts}
            {refused}
          </div>
        )}
        <ul>{tests.map((one, number) => <Item key={number} test={one} chosen={number === chosen} choose={() => setPlace(number)} />)}</ul>
      </nav>
      <TestForm
        key={`${chosen} of ${tests.length}`}
        test={test}
        change={(next, key) => write(tests.map((one, number) => (number === chosen ? next : one)), key && `tests/${chosen}/${key}`)}
        remove={() => write(tests.filter((_, number) => number !== chosen))}
      />
      <TestResult test={test} />
    </div>
  )
}
