import { Button, Loader, Select } from '@mantine/core'
import { IconRefresh, IconTableImport } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router'
import { ApiError } from '../../api/request'
import type { Preview } from '../../api/types'
import { familyOf, type DagDocument, type NodeType, type Problem } from '../../dag/document'
import { StateGlyph } from '../../shared/state-glyph'
import { CodePrinted } from './code-printed'
import { useDocument, useEditor } from './editor-store'
import { PreviewTable } from './preview-table'
import { problemSaid } from './problem-said'
import { shownOutputs } from './shown-outputs'
import { sinksAbove, sourcesAbove } from './samples/sources-above'
import { SourcesStrip } from './samples/sources-strip'
import { useSamples } from './samples/use-samples'
import { useTaking } from './tests/use-taking'
import { usePreview, type Previewed } from './use-preview'

const ROWS = ['10', '100', '1000']

/** A sentence, and below it the lines of a traceback as they are. */
function ManyLines({ text }: { text: string }) {
  const [first, ...lines] = text.split('\n')
  return (
    <span className="pw-wrap">
      {first}
      {lines.length > 0 && <pre>{lines.join('\n')}</pre>}
    </span>
  )
}

function Refused({ message, problems }: { message: string; problems: readonly Problem[] }) {
  const document = useDocument()
  return (
    <div className="pw-preview-refused" role="alert">
      {(problems.length > 0 ? problems : [{ message, node_id: '', code: '', pointer: '' }]).map((problem, index) => (
        <p key={index} className="pw-line">
          <StateGlyph state="failed" />
          {problem.node_id && <b>{document.nodes[problem.node_id]?.name ?? problem.node_id}</b>}
          <ManyLines text={problemSaid(problem, document.nodes[problem.node_id ?? '']?.name ?? '')} />
        </p>
      ))}
    </div>
  )
}

/** An input is called as its port, or where several edges lead into that as where each comes from: NODE or NODE.PORT. */
function inputName(document: DagDocument, type: NodeType | undefined, input: string): string {
  if (type?.ports.some((port) => port.name === input)) return input
  const [id = '', port] = input.split('.')
  const from = document.nodes[id]?.name ?? id
  return port ? `${from}, ${port}` : from
}

function Sides({ preview, nodeId }: { preview: Preview; nodeId: string }) {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const type = useEditor((state) => state.catalogue.get(document.nodes[nodeId]?.type ?? ''))
  const names = (ids: readonly string[]) => ids.map((id) => document.nodes[id]?.name ?? id)
  const held = names(preview.not_acted)
  const supposed = Object.entries(preview.supposed).map(([parameter, value]) => `${parameter} = ${JSON.stringify(value)}`).join(', ')
  const refusing = names(sinksAbove(document, nodeId))
  const name = (kind: 'in' | 'out', port: string) => (port === kind ? t(`preview.${kind}`) : port === 'errors' ? t('preview.rejected') : t(`preview.${kind}Of`, { port }))
  const allRejected = (preview.outputs.errors?.rows.length ?? 0) > 0
  return (
    <>
      {held.length > 0 && <p className="pw-preview-held" role="note">{t('preview.held', { nodes: held.join(', '), count: held.length })}</p>}
      {refusing.length > 0 && <p className="pw-preview-held" role="note">{t('preview.refused', { nodes: refusing.join(', ') })}</p>}
      {supposed && <p className="pw-preview-held" role="note">{t('preview.supposed', { values: supposed, interpolation: { escapeValue: false } })}</p>}
      <div className="pw-preview-sides">
        {Object.entries(preview.inputs).map(([input, side]) => <PreviewTable key={`in ${input}`} title={name('in', inputName(document, type, input))} side={side} empty={t('preview.none')} />)}
        {shownOutputs(type, preview.outputs).map(([port, side]) => <PreviewTable key={`out ${port}`} title={name('out', port)} side={side} empty={t(port === 'out' && allRejected ? 'preview.allRejected' : type?.family === 'source' ? 'preview.noneOfSource' : 'preview.none')} />)}
        <CodePrinted printed={preview.printed} />
      </div>
    </>
  )
}

function Found({ nodeId, preview, error, loading }: Previewed & { nodeId: string }) {
  const { t } = useTranslation('canvas')
  if (loading && !preview) {
    return (
      <p className="pw-empty pw-line" role="status">
        <Loader size={14} /> {t('preview.reading')}
      </p>
    )
  }
  if (error) return <Refused message={error.message} problems={error instanceof ApiError ? error.problems : []} />
  if (!preview) return <p className="pw-empty">{t('preview.cancelled')}</p>
  return preview.available ? <Sides preview={preview} nodeId={nodeId} /> : <Refused message={preview.message} problems={preview.problems as Problem[]} />
}

/** A test of the rows that are shown; it is opened once it is written. */
function MakeTest() {
  const { t } = useTranslation('canvas')
  const [, setSearch] = useSearchParams()
  const { act, reading, why } = useTaking(() => setSearch((old) => new URLSearchParams({ ...Object.fromEntries(old), dock: 'tests' }), { replace: true }))
  return (
    <>
      {why && <span className="pw-11 pw-bad pw-cut" role="alert" title={why}>{why}</span>}
      <Button size="compact-xs" leftSection={reading ? <Loader size={12} /> : <IconTableImport size={12} />} title={t('samples:makeTestHelp')} onClick={() => void act()}>
        {t(reading ? 'tests.taking' : 'samples:makeTest')}
      </Button>
    </>
  )
}

function OfNode({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation('canvas')
  const [rows, setRows] = useState('100')
  const document = useDocument()
  const kept = useSamples()
  const sources = sourcesAbove(document, nodeId)
  const allGiven = sources.length > 0 && sources.every((id) => kept.samples[id])
  const previewed = usePreview(nodeId, Number(rows), sources, kept.ready || kept.error ? kept.samples : null)
  const node = document.nodes[nodeId]
  const name = node?.name ?? nodeId
  return (
    <div className="pw-preview" data-stale={(previewed.loading && previewed.preview !== undefined) || undefined}>
      <div className="pw-preview-head">
        <b className="pw-cut" title={name}>{name}</b>
        <span className="pw-11 pw-3 pw-cut">{t(previewed.outdated ? 'preview.outdated' : allGiven ? 'samples:help' : 'preview.help')}</span>
        <span className="pw-grow" />
        {familyOf(node?.type ?? '') !== 'source' && <MakeTest />}
        <Select size="xs" w={110} aria-label={t('preview.most')} data={ROWS.map((value) => ({ value, label: t('preview.rows', { count: Number(value) }) }))} value={rows} allowDeselect={false} onChange={(value) => setRows(value ?? '100')} />
        {previewed.loading ? (
          <Button size="compact-xs" onClick={previewed.cancel}>{t('preview.cancel')}</Button>
        ) : (
          <Button size="compact-xs" leftSection={<IconRefresh size={12} />} onClick={previewed.again}>{t(allGiven ? 'samples:again' : 'preview.again')}</Button>
        )}
      </div>
      <SourcesStrip sources={sources} kept={kept} most={Number(rows)} shown={sources[0] === nodeId && !previewed.outdated ? previewed.preview?.outputs.out : undefined} />
      <Found nodeId={nodeId} {...previewed} />
    </div>
  )
}

/** The first rows into and out of the selected node; no sink is touched. */
export function PreviewTab() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const selected = useEditor((state) => state.selected)
  const [nodeId] = [...selected].filter((id) => document.nodes[id])
  if (!nodeId || selected.size !== 1) return <p className="pw-empty">{t('preview.choose')}</p>
  return <OfNode nodeId={nodeId} />
}
