import { ActionIcon, Tooltip } from '@mantine/core'
import { IconColumns2, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { Checkpoint } from '../../api/types'
import { useMay } from '../../api/use-may'
import { count } from '../numbers'
import { RelativeTime } from '../relative-time'
import { StateBadge } from '../state-badge'
import { wholeTime } from '../times'
import { keptBytes } from './kept'
import { CheckpointOffsets } from './checkpoint-offsets'
import { CheckpointPhases } from './checkpoint-phases'
import { readCheckpoint } from './checkpoint-requests'
import { NO_NAMES, operatorName, type NodeNames } from './node-names'
import './checkpoints.css'
import { CheckpointActs } from './one/checkpoint-acts'
import { CheckpointQueries } from './one/checkpoint-queries'
import { CheckpointStory, NotGood } from './one/checkpoint-story'
import './one/i18n'
import './one/one.css'
import { RestorePanel } from './restore-panel'
import { shownState } from './shown-state'
import { SizeFigure } from './size-figure'

const FilesDialog = lazy(() => import('./one/files-dialog'))
const StateDialog = lazy(() => import('./state-dialog'))

interface Props {
  checkpoint: Checkpoint
  onClose: () => void
  onChange: () => void
  /** Where there is another one to stand beside it. */
  onCompare?: (() => void) | undefined
  /** It stands on the page of its execution, which names the job. */
  ofPage?: boolean
}

function Operators({ checkpoint, names }: { checkpoint: Checkpoint; names: NodeNames }) {
  const { t } = useTranslation('checkpoints')
  const [opened, setOpened] = useState(false)
  const { operators } = checkpoint
  if (operators.length === 0) return null
  return (
    <section>
      <div className="pw-line">
        <h3 className="pw-grow">{t('detail.operators')}</h3>
        {checkpoint.status === 'COMPLETED' && <button type="button" className="pw-link pw-12" onClick={() => setOpened(true)}>{t('state.act')}</button>}
      </div>
      {opened && <Suspense><StateDialog checkpoint={checkpoint} names={names} onClose={() => setOpened(false)} /></Suspense>}
      <table className="pw-facts">
        <tbody>
          {operators.map((operator, index) => (
            <tr key={index}>
              <th scope="row">{operatorName(operator, names)}</th>
              <td>{count(Number(operator.rows ?? 0))} {t('detail.rows')}</td>
              <td><SizeFigure value={Number(operator.bytes ?? 0)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Where its files lie, and the list of them. */
function Files({ checkpoint }: { checkpoint: Checkpoint }) {
  const { t } = useTranslation(['checkpoint', 'checkpoints'])
  const [opened, setOpened] = useState(false)
  return (
    <section>
      <div className="pw-line">
        <h3 className="pw-grow">{t('files')} <span className="pw-11 pw-3">{t('list.note', { shown: count(checkpoint.file_count) })}</span></h3>
        {checkpoint.status === 'COMPLETED' && <button type="button" className="pw-link pw-12" onClick={() => setOpened(true)}>{t('list.act')}</button>}
      </div>
      {checkpoint.storage_path && <div className="pw-mono-11 pw-3 pw-wrap" title={t('place')}>{checkpoint.storage_path}</div>}
      <div className="pw-11 pw-3">{t('taken')} {wholeTime(checkpoint.create_time)}</div>
      {opened && <Suspense><FilesDialog checkpoint={checkpoint} onClose={() => setOpened(false)} /></Suspense>}
    </section>
  )
}

/** The execution that took it; of one that was brought here, when that was. */
function cameFrom(t: TFunction<['checkpoints', 'shared']>, { source, execution_id, attempt }: Checkpoint): [string, React.ReactNode][] {
  if (!source) {
    const execution = <Link key="e" className="pw-link pw-mono" to={`/executions/${execution_id}`}>{execution_id.slice(0, 8)}</Link>
    return [[t('detail.execution'), execution], [t('detail.attempt'), attempt]]
  }
  return [[t('travel.taken'), <RelativeTime key="t" time={source.taken} />], [t('detail.attempt'), attempt]]
}

function Facts({ checkpoint }: { checkpoint: Checkpoint }) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const { source, label } = checkpoint
  const facts: [string, React.ReactNode][] = [
    ...cameFrom(t, checkpoint),
    [t('detail.origin'), checkpoint.requested_by ? `${t(`shared:origin.${checkpoint.origin}`)}, ${checkpoint.requested_by}` : t(`shared:origin.${checkpoint.origin}`)],
    [t('detail.generation'), <span key="g" className="pw-mono-11" title={checkpoint.generation}>{checkpoint.generation.slice(0, 8)}</span>],
    [t('detail.storage'), t(`store.${checkpoint.storage}`, { defaultValue: checkpoint.storage })],
    [t('column.logical'), <SizeFigure key="l" value={keptBytes(checkpoint, checkpoint.storage_size_bytes)} />],
    [t('compare.rowsRead'), count(checkpoint.rows_read)],
    ...(checkpoint.backlog === null ? [] : [[t('compare.backlog'), count(checkpoint.backlog)] satisfies [string, string]]),
    [t('column.exclusive'), <SizeFigure key="x" value={keptBytes(checkpoint, checkpoint.exclusive_bytes)} />],
  ]
  return (
    <>
      {source && <p className="pw-12 pw-2 pw-wrap pw-drawer-note" title={source.execution_id}>{t(`travel.${source.way}`, { job: source.job_name, number: source.checkpoint_id, by: source.by })}</p>}
      {label && <p className="pw-12 pw-2 pw-wrap pw-drawer-note">“{label}”</p>}
      <dl className="pw-pairs">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** One checkpoint with all that is known of it, and what one can do with it. What is in the list stands at once, the rest is read. */
export function CheckpointDetail({ checkpoint, onClose, onChange, onCompare, ofPage = false }: Props) {
  const { t } = useTranslation(['checkpoint', 'checkpoints', 'shared'])
  const operates = useMay()('OPERATOR', checkpoint.project)
  const { data: facts } = useQuery({ queryKey: ['checkpoint', checkpoint.id, checkpoint.status, checkpoint.failure_reason], queryFn: () => readCheckpoint(checkpoint.id) })
  const begun = wholeTime(checkpoint.create_time)
  return (
    <aside className="pw-drawer" aria-label={t('checkpoints:detail.title', { number: checkpoint.checkpoint_id })}>
      <div className="pw-drawer-head">
        <div className="pw-line">
          <span className="pw-mono pw-3">{count(checkpoint.checkpoint_id)}</span>
          <StateBadge state={shownState(checkpoint)} />
          <span className="pw-12 pw-2 pw-cut pw-grow" title={`${t('taken')} ${begun}`}><RelativeTime time={checkpoint.complete_time ?? checkpoint.create_time} /></span>
          {onCompare && (
            <Tooltip label={t('checkpoints:compare.act')}>
              <ActionIcon variant="subtle" color="gray" aria-label={t('checkpoints:compare.act')} onClick={onCompare}>
                <IconColumns2 size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          {operates && <CheckpointActs checkpoint={checkpoint} onChange={onChange} />}
          <ActionIcon variant="subtle" color="gray" aria-label={t('shared:close')} onClick={onClose}>
            <IconX size={16} />
          </ActionIcon>
        </div>
        {!ofPage && <b className="pw-cut" title={checkpoint.job_title}>{checkpoint.job_title || checkpoint.job_name}</b>}
      </div>
      <div className="pw-drawer-body" role="region" aria-label={t('checkpoints:detail.title', { number: checkpoint.checkpoint_id })} tabIndex={0}>
        <NotGood checkpoint={checkpoint} facts={facts} />
        <Facts checkpoint={checkpoint} />
        <CheckpointQueries checkpoint={checkpoint} />
        <CheckpointPhases phases={checkpoint.phases} total={checkpoint.duration_ms} />
        <Operators key={checkpoint.id} checkpoint={checkpoint} names={facts?.node_names ?? NO_NAMES} />
        <section>
          <h3>{t('checkpoints:detail.offsets')}</h3>
          <CheckpointOffsets stateData={checkpoint.state_data} names={facts?.node_names ?? NO_NAMES} />
        </section>
        <CheckpointStory checkpoint={checkpoint} facts={facts} />
        <Files key={`files of ${checkpoint.id}`} checkpoint={checkpoint} />
        <details>
          <summary>{t('raw')}</summary>
          <pre className="pw-json-row">{JSON.stringify(checkpoint.state_data, null, 2)}</pre>
        </details>
      </div>
      {operates && checkpoint.restorable && (
        <div className="pw-drawer-foot">
          <RestorePanel key={checkpoint.id} checkpoint={checkpoint} onChange={onChange} />
        </div>
      )}
    </aside>
  )
}
