import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Checkpoint, PositionsEdited, PositionWanted, SourcePosition } from '../../../api/types'
import { Failure } from '../../failure'
import { useAct } from '../../use-act'
import { whileWritten } from '../../while-written'
import { refusalWords } from '../one/server-words'
import './i18n'
import { leavesOf, nameOf, written } from './position-values'
import './travel.css'
import { editPositions, sourcePositions } from './travel-requests'

/** What is chosen for one source; `way` "" keeps it where it stands. */
interface Choice {
  way: PositionWanted['to'] | ''
  time: string
  texts: Record<string, string>
}

const KEPT: Choice = { way: '', time: '', texts: {} }

const wantedOf = (source: SourcePosition, { way, time, texts }: Choice): PositionWanted => ({
  to: way || 'values',
  time: way === 'time' ? time : '',
  values: way === 'values' ? written(source.values, texts) : {},
})

function SourceFields({ source, choice, onChange }: { source: SourcePosition; choice: Choice; onChange: (choice: Choice) => void }) {
  const { t } = useTranslation('travel')
  const { t: said } = useTranslation('checkpoint')
  const ways = [{ value: '', label: t('positions.keep') }, ...source.ways.map((way) => ({ value: way, label: t(`positions.${way}`) }))]
  return (
    <section>
      <h3>{source.name}</h3>
      {source.refused && <p className="pw-help pw-wrap">{refusalWords(said, source.refused)}</p>}
      {source.ways.length > 0 && <Select size="xs" label={t('positions.way')} data={ways} value={choice.way} allowDeselect={false} onChange={(way) => onChange({ ...choice, way: (way ?? '') as Choice['way'] })} />}
      {choice.way === 'time' && <TextInput size="xs" label={t('positions.at')} placeholder="2026-01-31T06:00:00Z" value={choice.time} onChange={(event) => onChange({ ...choice, time: event.currentTarget.value })} />}
      {choice.way === 'values' && (
        <div className="pw-position-values">
          {leavesOf(source.values).map(({ path, value }) => (
            <TextInput key={nameOf(path)} size="xs" label={nameOf(path)} value={choice.texts[nameOf(path)] ?? String(value ?? '')} onChange={(event) => onChange({ ...choice, texts: { ...choice.texts, [nameOf(path)]: event.currentTarget.value } })} />
          ))}
        </div>
      )}
    </section>
  )
}

const texts = (position: unknown) => new Map(leavesOf({ '': position }).map(({ path, value }) => [nameOf(path.slice(1)), String(value ?? '–')]))

/** Each number that moves, before and after. */
function Moves({ edited, names }: { edited: PositionsEdited; names: ReadonlyMap<string, string> }) {
  const { t } = useTranslation('travel')
  const lines = edited.sources.flatMap(({ node_id, before, after }) => {
    const was = texts(before)
    return [...texts(after)].filter(([place]) => !place.startsWith('progress')).map(([place, now]) => ({ place: [names.get(node_id) ?? node_id, place].filter(Boolean).join(' · '), before: was.get(place) ?? '–', after: now }))
  })
  return (
    <table className="pw-moves">
      <thead>
        <tr>
          <td />
          <th scope="col">{t('positions.before')}</th>
          <th scope="col">{t('positions.after')}</th>
        </tr>
      </thead>
      <tbody>
        {lines.filter((line) => line.before !== line.after).map((line) => (
          <tr key={line.place} data-moved>
            <th scope="row">{line.place}</th>
            <td className="pw-mono-11">{line.before}</td>
            <td className="pw-mono-11">{line.after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** What the server said to one choice; neither while it is asked. */
interface Looked {
  edited?: PositionsEdited
  refused?: string
}

/** What `wanted` would change. An answer is kept by what was asked: one that comes after the choice was changed is none to the new one. */
function useLook(checkpoint: number, wanted: Record<string, PositionWanted>) {
  const [looked, setLooked] = useState<Record<string, Looked>>({})
  const question = JSON.stringify(wanted)
  const tell = (answer: Looked) => setLooked((all) => ({ ...all, [question]: answer }))
  const look = () => {
    tell({})
    editPositions(checkpoint, wanted, false).then((edited) => tell({ edited }), (error: Error) => tell({ refused: error.message }))
  }
  const now = looked[question]
  return { shown: now?.edited, refused: now?.refused, looking: now !== undefined && !now.edited && now.refused === undefined, look }
}

/** Where sources go on is chosen, shown before and after, and written into a copy, which `onDone` gets. */
export default function PositionsDialog({ checkpoint, onClose, onDone }: { checkpoint: Checkpoint; onClose: () => void; onDone: (copy: Checkpoint) => void }) {
  const { t } = useTranslation('travel')
  const [choices, setChoices] = useState<Record<string, Choice>>({})
  const [busy, act] = useAct()
  const title = t('positions.title', { number: checkpoint.checkpoint_id })
  const sources = useQuery({ queryKey: ['positions', checkpoint.id], queryFn: () => sourcePositions(checkpoint.id), gcTime: 0, refetchOnWindowFocus: false })
  const chosen = (sources.data ?? []).filter(({ node_id }) => choices[node_id]?.way)
  const wanted = Object.fromEntries(chosen.map((source) => [source.node_id, wantedOf(source, choices[source.node_id] ?? KEPT)]))
  const { shown, refused, looking, look } = useLook(checkpoint.id, wanted)
  const make = () =>
    act('positions', {
      run: () => editPositions(checkpoint.id, wanted, true),
      done: () => t('positions.made', { number: checkpoint.checkpoint_id }),
      after: (edited) => edited.checkpoint && onDone(edited.checkpoint),
    })
  const settable = sources.data?.some(({ ways }) => ways.length > 0)
  return (
    <Modal opened onClose={onClose} {...whileWritten(chosen.length > 0)} title={title} size={560}>
      <p className="pw-help">{t('positions.help')}</p>
      {sources.isPending && <p className="pw-help" role="status">{t('positions.reading')}</p>}
      {sources.error && <Failure error={sources.error} what={title} retry={() => void sources.refetch()} />}
      <div className="pw-positions">
        {sources.data?.map((source) => <SourceFields key={source.node_id} source={source} choice={choices[source.node_id] ?? KEPT} onChange={(choice) => setChoices({ ...choices, [source.node_id]: choice })} />)}
        {shown && <Moves edited={shown} names={new Map(sources.data?.map(({ node_id, name }) => [node_id, name]))} />}
      </div>
      {settable && (
        <div className="pw-form-acts">
          <span id="pw-positions-why" className={`pw-12 pw-grow pw-wrap ${refused ? 'pw-bad' : 'pw-2'}`} role="status">
            {refused || t(chosen.length === 0 ? 'positions.nothing' : shown ? 'positions.rows' : 'positions.see')}
          </span>
          <Button disabled={chosen.length === 0} loading={looking} onClick={look}>{t('positions.preview')}</Button>
          <Button variant="filled" disabled={!shown} aria-describedby="pw-positions-why" loading={busy !== null} onClick={() => void make()}>
            {t('positions.confirm')}
          </Button>
        </div>
      )}
    </Modal>
  )
}
