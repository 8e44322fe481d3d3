import { Tabs } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router'
import { said } from '../../api/sentences/said'
import type { Problem } from '../../dag/document'
import { ordered, worst } from '../../dag/problems'
import { copyText } from '../../shared/clipboard'
import { StateGlyph } from '../../shared/state-glyph'
import { useDocument, useEditor } from './editor-store'
import { PreviewTab } from './preview-tab'
import { problemSaid } from './problem-said'
import { ScriptTab } from './script-tab'
import { TestsTab } from './tests/tests-tab'

/** A fault of a test is mended where the tests are. */
function useGoTo() {
  const [, setSearch] = useSearchParams()
  return (problem: Problem) => {
    useEditor.getState().focusProblem(problem)
    if (problem.pointer.startsWith('/tests/')) setSearch((old) => new URLSearchParams({ ...Object.fromEntries(old), dock: 'tests' }), { replace: true })
  }
}

function NoProblems({ checking }: { checking: boolean }) {
  const { t } = useTranslation('canvas')
  const readOnly = useEditor((state) => state.readOnly)
  return <p className="pw-empty">{t(checking ? 'noProblemsYet' : readOnly ? 'noProblemsRead' : 'noProblems')}</p>
}

function Problems() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const problems = useEditor((state) => state.problems)
  const checking = useEditor((state) => state.analysing || (state.checked !== document && Object.keys(document.nodes).length > 0))
  const unanalysed = useEditor((state) => state.unanalysed)
  const goTo = useGoTo()
  const note = unanalysed && !checking ? <p className="pw-empty">{t('unanalysed', { why: said(unanalysed) })}</p> : null
  if (problems.length === 0) return note ?? <NoProblems checking={checking} />
  return (
    <>
      {note}
      <ul className="pw-problems">
        {ordered(problems, document).map((problem, index) => (
          <li key={index}>
            <button type="button" onClick={() => goTo(problem)}>
              <StateGlyph state={problem.severity === 'error' ? 'failed' : 'warning'} label={t(`severity.${problem.severity}`)} />
              <span className="pw-problem-node">{problem.node_id ? (document.nodes[problem.node_id]?.name ?? problem.node_id) : t('wholeJob')}</span>
              <span>{problemSaid(problem, document.nodes[problem.node_id ?? '']?.name ?? '')}</span>
              <code>{problem.code}</code>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function Schema() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const schemas = useEditor((state) => state.schemas)
  const selected = useEditor((state) => state.selected)
  const shown = (selected.size > 0 ? [...selected] : Object.keys(document.nodes)).filter((id) => schemas[id])
  if (shown.length === 0) return <p className="pw-empty">{t('noSchemaYet')}</p>
  return (
    <div className="pw-schemas">
      {shown.flatMap((id) =>
        Object.entries(schemas[id] ?? {}).map(([port, columns]) => (
          <section key={`${id}.${port}`}>
            <h3>
              {document.nodes[id]?.name ?? id} <small>{port}</small>
            </h3>
            <table>
              <tbody>
                {columns.map((column) => (
                  <tr key={column.name}>
                    <td>{column.name}</td>
                    <td>{column.type}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )),
      )}
    </div>
  )
}

function DocumentJson() {
  const { t } = useTranslation('canvas')
  const text = JSON.stringify(useDocument(), null, 2)
  return (
    <div className="pw-json">
      <button type="button" className="pw-link" onClick={() => void copyText(text)}>
        {t('copyJson')}
      </button>
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}

const BODIES: Record<string, () => ReactNode> = { preview: PreviewTab, tests: TestsTab, schema: Schema, json: DocumentJson, pyspark: ScriptTab }

const TALL = new Set(['preview', 'tests', 'pyspark'])

/** Below the canvas: problems, rows of the selected node, tests, schema, the document itself. */
export function Dock() {
  const { t } = useTranslation('canvas')
  const [search, setSearch] = useSearchParams()
  const problems = useEditor((state) => state.problems)
  const readOnly = useEditor((state) => state.readOnly)
  const analysing = useEditor((state) => state.analysing)
  const [open, setOpen] = useState(true)
  const asked = search.get('dock') ?? 'problems'
  const tab = readOnly && asked === 'preview' ? 'problems' : asked
  const Body = BODIES[tab] ?? Problems
  return (
    <section className={`pw-dock${TALL.has(tab) ? ' pw-dock-tall' : ''}${open ? '' : ' pw-dock-closed'}`} aria-label={t('dock')}>
      <Tabs
        value={tab}
        onChange={(value) => {
          setOpen(true)
          setSearch((old) => new URLSearchParams({ ...Object.fromEntries(old), dock: value ?? 'problems' }), { replace: true })
        }}
      >
        <Tabs.List>
          <Tabs.Tab value="problems" rightSection={problems.length > 0 ? <span className={worst(problems)?.severity === 'error' ? 'pw-count-bad' : 'pw-count-warn'}>{problems.length}</span> : undefined}>
            {t('problems')}
          </Tabs.Tab>
          {!readOnly && <Tabs.Tab value="preview">{t('preview.tab')}</Tabs.Tab>}
          <Tabs.Tab value="tests">{t('tests.tab')}</Tabs.Tab>
          <Tabs.Tab value="schema">{t('schema')}</Tabs.Tab>
          <Tabs.Tab value="json">JSON</Tabs.Tab>
          <Tabs.Tab value="pyspark">PySpark</Tabs.Tab>
          {analysing && <span className="pw-dock-note">{t('checking')}</span>}
          <button type="button" className="pw-icon-button pw-dock-toggle" aria-expanded={open} aria-label={t(open ? 'collapse' : 'expand')} onClick={() => setOpen(!open)}>
            {open ? <IconChevronDown size={14} /> : <IconChevronUp size={14} />}
          </button>
        </Tabs.List>
      </Tabs>
      {open && <div className="pw-dock-body"><Body /></div>}
    </section>
  )
}
