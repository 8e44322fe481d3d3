import { Button, Loader, Modal, TextInput } from '@mantine/core'
import { IconBraces, IconClipboard } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { pastedText } from '../../../shared/clipboard'
import { later } from '../../../shared/later'
import { said } from '../../../api/sentences/said'
import type { Sample } from '../../../api/types'
import type { Row } from '../../../dag/document'
import { Notice } from '../../../shared/notice'
import { StateGlyph } from '../../../shared/state-glyph'
import { whileWritten } from '../../../shared/while-written'
import { previewNode, type SampleRows } from '../draft-requests'
import { useDocument, useEditor } from '../editor-store'
import { rowsOfText } from '../tests/rows-text'
import { faultPlace } from './row-faults'
import { sampleOfSide } from './sample-rows'
import { EMPTY, isJson, useEditedRows } from './use-edited-rows'
import type { KeptSamples } from './use-samples'

const CodeField = later(() => import('../form/code-field'))

const READ_ROWS = 100
const FIELD = 'pw-sample-rows'

/** The first rows of the source itself, to begin with where none are kept. */
function useSourceRows(nodeId: string, wanted: boolean) {
  return useQuery({
    queryKey: ['source-rows', nodeId],
    enabled: wanted,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: async ({ signal }): Promise<SampleRows> => {
      const found = await previewNode(useEditor.getState().history.present.document, nodeId, READ_ROWS, {}, signal)
      if (!found.available) throw new Error(said(found.problems[0]?.message ?? found.message))
      return sampleOfSide(found.outputs.out)
    },
  })
}

type Edited = ReturnType<typeof useEditedRows>

/** A list of the rows that do not fit; a click leads to one. */
function Faults({ edited, goTo }: { edited: Edited; goTo: (at: number) => void }) {
  const { t } = useTranslation('samples')
  if (edited.faults.length === 0) return null
  return (
    <ul className="pw-rows-faults" role="alert">
      {edited.faults.map((fault, number) => (
        <li key={number}>
          <button type="button" onClick={() => goTo(faultPlace(edited.text, fault).from)}>
            <StateGlyph state="failed" />
            <b>{t(fault.column ? 'rowColumn' : 'row', { row: fault.row + 1, column: fault.column })}</b>
            <span className="pw-wrap">{fault.words}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** How many rows stand in the field, or why none can be read. */
function useCount(text: string): string {
  const { t } = useTranslation('samples')
  return useMemo(() => {
    try {
      return t(isJson(text) ? 'count' : 'countCsv', { count: rowsOfText(text).length })
    } catch {
      return t('notYet')
    }
  }, [text, t])
}

function Field({ name, edited }: { name: string; edited: Edited }) {
  const { t } = useTranslation('samples')
  const [place, setPlace] = useState<{ at: number } | null>(null)
  const [unpasted, setUnpasted] = useState<'pasteDenied' | 'pasteEmpty' | null>(null)
  const count = useCount(edited.text)
  const marks = useMemo(() => (edited.unreadable ? [edited.unreadable] : edited.faults.map((fault) => faultPlace(edited.text, fault))), [edited.text, edited.faults, edited.unreadable])
  const write = (text: string) => {
    setUnpasted(null)
    edited.write(text)
  }
  const paste = async () => {
    const text = await pastedText().catch(() => null)
    const isBlank = text?.trim() === ''
    setUnpasted(text === null ? 'pasteDenied' : isBlank ? 'pasteEmpty' : null)
    if (text !== null && !isBlank) edited.read(text)
  }
  return (
    <div>
      <div className="pw-rows-head">
        <label htmlFor={FIELD}>{t('rows')}</label>
        <small role="status">{unpasted ? t(unpasted) : count}</small>
        <span className="pw-grow" />
        {!isJson(edited.text) && <Button size="compact-xs" leftSection={<IconBraces size={12} />} onClick={() => edited.read()}>{t('toJson')}</Button>}
        <Button size="compact-xs" leftSection={<IconClipboard size={12} />} onClick={() => void paste()}>{t('paste')}</Button>
      </div>
      <Suspense fallback={<div className="pw-rows-reading" />}>
        <CodeField id={FIELD} label={t('rowsOf', { node: name })} value={edited.text} columns={[]} invalid={marks.length > 0 || edited.refused !== ''} tall={false} language="rows" readOnly={false} marks={marks} goTo={place} onChange={write} />
      </Suspense>
      <Faults edited={edited} goTo={(at) => setPlace({ at })} />
    </div>
  )
}

interface FormProps {
  nodeId: string
  name: string
  kept: KeptSamples
  sample: Sample | undefined
  begin: SampleRows
  /** Why the source could not be read to begin with. */
  unread: string
  onWritten: (isWritten: boolean) => void
  onClose: () => void
}

function Form({ nodeId, name, kept, sample, begin, unread, onWritten, onClose }: FormProps) {
  const { t } = useTranslation('samples')
  const types = useEditor((state) => state.schemas)[nodeId]?.out ?? []
  const edited = useEditedRows(nodeId, kept, begin, sample?.revision ?? '', types)
  const { isWritten } = edited
  useEffect(() => onWritten(isWritten), [onWritten, isWritten])
  const [dropRefused, setDropRefused] = useState('')
  const save = async (saved: Promise<boolean>) => {
    if (await saved) onClose()
  }
  const drop = (revision: string) => kept.drop(nodeId, revision).then(onClose, (error: Error) => setDropRefused(error.message))
  const refused = edited.refused || dropRefused
  return (
    <div className="pw-rows-dialog">
      <p className="pw-help">{t('dialogHelp')}</p>
      {unread && <Notice glyph="warning" title={t('unread')}>{unread}</Notice>}
      {edited.conflict && (
        <Notice
          glyph="warning"
          title={t('conflict', { by: edited.conflict.by })}
          acts={
            <>
              <Button onClick={() => void kept.refresh().then((samples) => edited.replace(samples[nodeId]))}>{t('takeTheirs')}</Button>
              <Button className="pw-danger" onClick={() => void save(edited.overwrite())}>{t('overwrite')}</Button>
            </>
          }
        />
      )}
      <Field name={name} edited={edited} />
      <TextInput size="xs" label={t('columns')} description={t('columnsHelp')} placeholder="id bigint, at timestamp" classNames={{ input: 'pw-mono' }} value={edited.columns} onChange={(event) => edited.setColumns(event.currentTarget.value)} />
      <div className="pw-form-acts">
        <span className="pw-12 pw-grow pw-wrap pw-bad" role="alert">{refused}</span>
        {sample && <Button variant="subtle" color="gray" onClick={() => void drop(sample.revision)}>{t('backToSource')}</Button>}
        <Button onClick={onClose}>{t('canvas:cancel')}</Button>
        <Button variant="filled" loading={edited.saving} disabled={edited.conflict !== null} onClick={() => void save(edited.save())}>{t('save')}</Button>
      </div>
    </div>
  )
}

/** The rows that previews take in place of a source, as JSON or CSV; they are kept once they fit the source's columns. */
export default function RowsDialog({ nodeId, kept, onClose }: { nodeId: string; kept: KeptSamples; onClose: () => void }) {
  const { t } = useTranslation('samples')
  const name = useDocument().nodes[nodeId]?.name ?? nodeId
  const [sample] = useState(kept.samples[nodeId])
  const [isWritten, setWritten] = useState(false)
  const source = useSourceRows(nodeId, sample === undefined)
  const begin: SampleRows | undefined = sample ? { columns: sample.columns, rows: sample.rows as Row[] } : (source.data ?? (source.error ? EMPTY : undefined))
  return (
    <Modal opened onClose={onClose} {...whileWritten(isWritten)} title={t('title', { node: name, interpolation: { escapeValue: false } })} size={760}>
      {begin ? (
        <Form nodeId={nodeId} name={name} kept={kept} sample={sample} begin={begin} unread={source.error?.message ?? ''} onWritten={setWritten} onClose={onClose} />
      ) : (
        <p className="pw-rows-reading" role="status"><span className="pw-line"><Loader size={14} /> {t('canvas:preview.reading')}</span></p>
      )}
    </Modal>
  )
}
