import { Button, Loader } from '@mantine/core'
import { IconPlayerPlay, IconPlus, IconTableImport } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { PipelineTest } from '../../../dag/document'
import { StateGlyph } from '../../../shared/state-glyph'
import { useDocument, useEditor } from '../editor-store'
import { TestForm } from './test-form'
import { GLYPHS, TestResult } from './test-result'
import { useShown, useTestRuns } from './tests-store'
import { addTest, useTaking, writeTests } from './use-taking'
import { placeOfTest } from './written-rows'
import './tests.css'

const NONE: PipelineTest[] = []

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
  const jobName = useEditor((state) => state.jobName)
  const readOnly = useEditor((state) => state.readOnly)
  const running = useTestRuns((state) => state.running)
  const place = useTestRuns((state) => state.place)
  const setPlace = (number: number) => useTestRuns.setState({ place: number })
  const chosen = Math.min(place, tests.length - 1)
  const taking = useTaking()
  const acts = !readOnly && (
    <>
      <Button size="compact-xs" leftSection={<IconPlus size={12} />} onClick={() => addTest()}>{t(tests.length > 0 ? 'tests.add' : 'tests.addFirst')}</Button>
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
        place={placeOfTest(jobName, chosen)}
        change={(next, key) => writeTests(tests.map((one, number) => (number === chosen ? next : one)), key && `tests/${chosen}/${key}`)}
        remove={() => writeTests(tests.filter((_, number) => number !== chosen))}
      />
      <TestResult test={test} />
    </div>
  )
}
