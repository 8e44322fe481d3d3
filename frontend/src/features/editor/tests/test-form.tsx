import { ActionIcon, Button, Checkbox, Select, Textarea, TextInput } from '@mantine/core'
import { IconPlayerPlay, IconTrash, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { familyOf, isInput, portsOf, type Catalogue, type DagDocument, type PipelineTest, type Row } from '../../../dag/document'
import { useDocument, useEditor } from '../editor-store'
import { sourcesAbove } from '../samples/sources-above'
import { RowsField } from './rows-field'
import { TestParameters } from './test-parameters'
import { useTestRuns } from './tests-store'
import { writtenColumns } from './written-columns'
import { useWritten } from './written-rows'

interface Props {
  test: PipelineTest
  /** Where what is written for it stands. */
  place: string
  change: (next: PipelineTest, key: string) => void
  remove: () => void
}

const without = <T,>(map: Record<string, T> | undefined, key: string): Record<string, T> => Object.fromEntries(Object.entries(map ?? {}).filter(([one]) => one !== key))

/** "id" or "id.port" in the words of the drawing. */
export function outletWords(document: DagDocument, outlet: string): string {
  const [id = '', ...port] = outlet.split('.')
  return [document.nodes[id]?.name ?? id, port.join('.')].filter(Boolean).join(' · ')
}

function outletsOf(document: DagDocument, catalogue: Catalogue): string[] {
  return Object.entries(document.nodes).flatMap(([id, node]) => {
    if (familyOf(node.type) === 'sink') return [id]
    const ports = portsOf(node, catalogue.get(node.type)).filter((port) => !isInput(port))
    return ports.filter((port) => familyOf(node.type) !== 'source' || port.name !== 'out').map((port) => (port.name === 'out' ? id : `${id}.${port.name}`))
  })
}

function Given({ test, place, change }: Props) {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const schemas = useEditor((state) => state.schemas)
  const needed = new Set(Object.keys(test.expect ?? {}).flatMap((outlet) => sourcesAbove(document, outlet.split('.')[0] ?? '')))
  const all = Object.keys(document.nodes).filter((id) => familyOf(document.nodes[id]?.type ?? '') === 'source')
  const shown = [...new Set([...Object.keys(test.given ?? {}), ...(needed.size > 0 ? needed : all)])].sort()
  return (
    <>
      <h3>{t('tests.given')}<small>{t('tests.givenHelp')}</small></h3>
      {shown.map((id) => {
        const node = document.nodes[id]
        const name = node?.name ?? id
        return (
          <div key={id} className="pw-tests-rows">
            <RowsField
              title={node ? name : `${id} (${t('tests.noLongerThere')})`}
              label={t('tests.rowsOf', { node: name })}
              place={`${place}/given/${id}`}
              rows={test.given?.[id] ?? []}
              columns={[...(schemas[id]?.out ?? []), ...writtenColumns(test.columns?.[id] ?? '')]}
              batches
              act={(!node || !needed.has(id)) && test.given?.[id] && (
                <ActionIcon variant="subtle" color="gray" size={20} aria-label={t('tests.removeRows', { node: name })} onClick={() => { useWritten.getState().forget(`${place}/given/${id}`); change({ ...test, given: without(test.given, id), columns: without(test.columns, id) }, '') }}>
                  <IconX size={12} />
                </ActionIcon>
              )}
              onChange={(rows) => change({ ...test, given: { ...test.given, [id]: rows } }, `given/${id}`)}
            />
            <TextInput
              size="xs"
              aria-label={t('tests.columnsOf', { node: name })}
              leftSection={<span className="pw-11 pw-3">{t('tests.columns')}</span>}
              leftSectionWidth={62}
              placeholder={t('tests.columnsHint')}
              classNames={{ input: 'pw-mono' }}
              value={test.columns?.[id] ?? ''}
              onChange={(event) => {
                const text = event.currentTarget.value
                change({ ...test, given: { ...test.given, [id]: test.given?.[id] ?? [] }, columns: text === '' ? without(test.columns, id) : { ...test.columns, [id]: text } }, `columns/${id}`)
              }}
            />
          </div>
        )
      })}
    </>
  )
}

/** A line for each micro-batch; an empty one between others is none. */
const timesOf = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => line !== '')

/** When each micro-batch comes, a line each; taken over while they are written. */
function Clock({ test, change }: Props) {
  const { t } = useTranslation('canvas')
  const [text, setText] = useState<string | null>(null)
  const write = (written: string) => {
    setText(written)
    const clock = timesOf(written)
    const rest = { ...test }
    delete rest.clock
    change(clock.length > 0 ? { ...rest, clock } : rest, 'clock')
  }
  return (
    <Textarea
      size="xs"
      label={t('tests.clock')}
      description={t('tests.clockHelp')}
      placeholder={'2026-01-31 12:00:00\n10 min'}
      autosize
      minRows={2}
      maxRows={8}
      spellCheck={false}
      classNames={{ input: 'pw-mono' }}
      value={text ?? (test.clock ?? []).join('\n')}
      onChange={(event) => write(event.currentTarget.value)}
      onBlur={() => setText(null)}
    />
  )
}

/** Naming a place where rows are expected gives every source above it its rows, none at first. */
function withOutlet(document: DagDocument, test: PipelineTest, outlet: string): PipelineTest {
  const sources = sourcesAbove(document, outlet.split('.')[0] ?? '')
  return { ...test, given: { ...Object.fromEntries(sources.map((id) => [id, []])), ...test.given }, expect: { ...test.expect, [outlet]: test.expect?.[outlet] ?? [] } }
}

function Expected({ test, place, change }: Props) {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const catalogue = useEditor((state) => state.catalogue)
  const schemas = useEditor((state) => state.schemas)
  const outlets = outletsOf(document, catalogue)
  const free = outlets.filter((outlet) => !(outlet in (test.expect ?? {})))
  return (
    <>
      <h3>{t('tests.expected')}</h3>
      {Object.entries(test.expect ?? {}).map(([outlet, rows]) => {
        const [id = '', port = 'out'] = outlet.split('.')
        const words = outletWords(document, outlet)
        return (
          <RowsField
            key={outlet}
            title={outlets.includes(outlet) ? words : `${words} (${t('tests.noLongerThere')})`}
            label={t('tests.expectedAt', { node: words })}
            place={`${place}/expect/${outlet}`}
            rows={rows}
            columns={schemas[id]?.[familyOf(document.nodes[id]?.type ?? '') === 'sink' ? 'in' : port] ?? []}
            act={
              <ActionIcon variant="subtle" color="gray" size={20} aria-label={t('tests.removeRows', { node: words })} onClick={() => { useWritten.getState().forget(`${place}/expect/${outlet}`); change({ ...test, expect: without(test.expect, outlet) }, '') }}>
                <IconX size={12} />
              </ActionIcon>
            }
            onChange={(next) => change({ ...test, expect: { ...test.expect, [outlet]: next as Row[] } }, `expect/${outlet}`)}
          />
        )
      })}
      {free.length > 0 && (
        <Select size="xs" aria-label={t('tests.expectAt')} placeholder={t('tests.expectAt')} value={null} data={free.map((outlet) => ({ value: outlet, label: outletWords(document, outlet) }))} onChange={(outlet) => outlet && change(withOutlet(document, test, outlet), '')} />
      )}
      <Checkbox size="xs" label={t('tests.ordered')} checked={test.ordered ?? false} onChange={(event) => change({ ...test, ordered: event.currentTarget.checked }, '')} />
      <Checkbox size="xs" label={t('tests.onlyColumns')} checked={test.only_columns ?? false} onChange={(event) => change({ ...test, only_columns: event.currentTarget.checked }, '')} />
    </>
  )
}

/** Taken over while it is written, but for none at all: a test has a name. */
function Name({ test, change }: Pick<Props, 'test' | 'change'>) {
  const { t } = useTranslation('canvas')
  const [text, setText] = useState<string | null>(null)
  const write = (name: string) => {
    setText(name)
    if (name.trim()) change({ ...test, name }, 'name')
  }
  return <TextInput size="xs" aria-label={t('tests.name')} value={text ?? test.name} maxLength={200} onChange={(event) => write(event.currentTarget.value)} onBlur={() => setText(null)} />
}

/** One test: its name, the rows it gives, the rows it expects. */
export function TestForm(props: Props) {
  const { test, place, change, remove } = props
  const { t } = useTranslation('canvas')
  const readOnly = useEditor((state) => state.readOnly)
  const running = useTestRuns((state) => state.running)
  return (
    <fieldset className="pw-tests-form" disabled={readOnly}>
      <div className="pw-tests-head">
        <Name test={test} change={change} />
        {!readOnly && (
          <>
            <Button size="compact-xs" leftSection={<IconPlayerPlay size={12} />} disabled={running !== null} onClick={() => void useTestRuns.getState().run([test.name])}>{t('tests.run')}</Button>
            <ActionIcon variant="subtle" color="gray" size={22} aria-label={t('tests.remove')} onClick={remove}>
              <IconTrash size={14} />
            </ActionIcon>
          </>
        )}
      </div>
      <Given {...props} />
      <TestParameters key={`${place}/parameters`} test={test} change={change} />
      <Clock key={test.name} {...props} />
      <Expected {...props} />
    </fieldset>
  )
}
