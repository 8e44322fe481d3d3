import { Loader } from '@mantine/core'
import { IconPencil, IconPin } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { said } from '../../../api/sentences/said'
import type { PreviewSide, Sample } from '../../../api/types'
import type { Row } from '../../../dag/document'
import { answer } from '../../../shared/answers'
import { later } from '../../../shared/later'
import { dayClock, wholeTime } from '../../../shared/times'
import { useAct } from '../../../shared/use-act'
import { previewNode } from '../draft-requests'
import { useDocument, useEditor } from '../editor-store'
import { sampleOfSide } from './sample-rows'
import './i18n'
import './samples.css'
import type { KeptSamples } from './use-samples'

const RowsDialog = later(() => import('./rows-dialog'))

interface Props {
  sources: readonly string[]
  kept: KeptSamples
  /** So many rows of a source are kept. */
  most: number
  /** The rows on the screen, where they are those of the only source. */
  shown: PreviewSide | undefined
}

function useSampleActs({ kept, most, shown }: Props) {
  const { t } = useTranslation('samples')
  const [busy, act] = useAct()
  const nameOf = (id: string) => useEditor.getState().history.present.document.nodes[id]?.name ?? id
  const read = async (id: string) => {
    const { document } = useEditor.getState().history.present
    const preview = await previewNode(document, id, most, {})
    if (!preview.available) throw new Error(said(preview.problems[0]?.message ?? preview.message))
    return preview.outputs.out
  }
  const keep = (id: string) =>
    act(`keep ${id}`, { run: async () => kept.keep(id, sampleOfSide(shown ?? (await read(id))), false, ''), done: (sample) => t('keptDone', { node: nameOf(id), count: sample.rows.length }) })
  const drop = (id: string, sample: Sample) => {
    const back = () => void kept.keep(id, { columns: sample.columns, rows: sample.rows as Row[], taken_at: sample.taken_at }, sample.by_hand, '').catch((error: Error) => answer(false, error.message))
    return act(`drop ${id}`, { run: () => kept.drop(id, sample.revision), done: () => t('dropped', { node: nameOf(id) }), link: () => ({ words: t('undo'), run: back }) })
  }
  return { busy, keep, drop }
}

function Origin({ sample }: { sample: Sample | undefined }) {
  const { t } = useTranslation('samples')
  if (!sample) return <span className="pw-3">{t('readNow')}</span>
  const Icon = sample.by_hand ? IconPencil : IconPin
  return (
    <span title={[wholeTime(sample.taken_at), sample.taken_by].filter(Boolean).join(' · ')}>
      <Icon size={11} aria-hidden />
      {t(sample.by_hand ? 'byHand' : 'readAt', { time: dayClock(sample.taken_at), count: sample.rows.length })}
    </span>
  )
}

/** Where the rows of a preview come from, for each source above it: read each time, or kept with the draft. */
export function SourcesStrip(props: Props) {
  const { sources, kept } = props
  const { t } = useTranslation('samples')
  const document = useDocument()
  const [editing, setEditing] = useState<string | null>(null)
  const { busy, keep, drop } = useSampleActs(props)
  if (sources.length === 0 || (!kept.ready && !kept.error)) return null
  return (
    <>
      <ul className="pw-samples" aria-label={t('label')}>
        {kept.error && <li className="pw-bad" role="alert">{kept.error.message}</li>}
        {sources.map((id) => {
          const sample = kept.samples[id]
          const name = document.nodes[id]?.name ?? id
          return (
            <li key={id} data-kept={sample ? true : undefined}>
              <b className="pw-cut" title={name}>{name}</b>
              <Origin sample={sample} />
              {busy?.endsWith(` ${id}`) && <Loader size={10} />}
              {sample ? (
                <button type="button" className="pw-link" disabled={busy !== null} title={t('refreshHelp')} onClick={() => void drop(id, sample)}>{t('refresh')}</button>
              ) : (
                <button type="button" className="pw-link" disabled={busy !== null} title={t('keepHelp')} onClick={() => void keep(id)}>{t('keep')}</button>
              )}
              <button type="button" className="pw-link" aria-label={t('editOf', { node: name })} onClick={() => setEditing(id)}>{t('edit')}</button>
            </li>
          )
        })}
      </ul>
      {editing !== null && (
        <Suspense fallback={null}>
          <RowsDialog nodeId={editing} kept={kept} onClose={() => setEditing(null)} />
        </Suspense>
      )}
    </>
  )
}
