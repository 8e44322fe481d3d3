import { ActionIcon, Button, Modal, TextInput, Tooltip } from '@mantine/core'
import { IconColumns2, IconDeviceFloppy, IconDownload, IconPin, IconTag, IconTrash, IconX } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { lazy, Suspense, useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { Checkpoint } from '../../api/types'
import { useMay } from '../../api/use-may'
import { count } from '../numbers'
import { RelativeTime } from '../relative-time'
import { StateBadge } from '../state-badge'
import { wholeTime } from '../times'
import { useAct } from '../use-act'
import { keptBytes } from './checkpoint-columns'
import { CheckpointOffsets } from './checkpoint-offsets'
import { CheckpointPhases } from './checkpoint-phases'
import { changeCheckpoint, deleteCheckpoint } from './checkpoint-requests'
import './checkpoints.css'
import './i18n'
import { RestorePanel } from './restore-panel'
import { SizeFigure } from './size-figure'

const StateDialog = lazy(() => import('./state-dialog'))

interface Props {
  checkpoint: Checkpoint
  onClose: () => void
  onChange: () => void
  /** Where there is another one to stand beside it. */
  onCompare?: (() => void) | undefined
}

function LabelDialog({ checkpoint, onClose, onChange }: Props) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const [label, setLabel] = useState(checkpoint.label)
  const [busy, act] = useAct()
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (await act('label', { run: () => changeCheckpoint(checkpoint.id, { label: label.trim() }), done: () => t('label.done', { number: checkpoint.checkpoint_id }), after: onChange })) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('label.title', { number: checkpoint.checkpoint_id })} size={380}>
      <form className="pw-form-column" onSubmit={(event) => void save(event)}>
        <TextInput data-autofocus label={t('label.field')} value={label} maxLength={200} onChange={(event) => setLabel(event.currentTarget.value)} />
        <div className="pw-form-acts">
          <Button onClick={onClose}>{t('shared:cancel')}</Button>
          <Button type="submit" variant="filled" loading={busy !== null}>
            {t('label.save')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

function DeleteDialog({ checkpoint, onClose, onChange }: Props) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const [busy, act] = useAct()
  const remove = async () => {
    if (await act('delete', { run: () => deleteCheckpoint(checkpoint.id), done: () => t('delete.done', { number: checkpoint.checkpoint_id }), after: onChange })) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('delete.title', { number: checkpoint.checkpoint_id })} size={400}>
      <p className="pw-help">{t('delete.help')}</p>
      <div className="pw-form-acts">
        <Button data-autofocus onClick={onClose}>
          {t('shared:cancel')}
        </Button>
        <Button className="pw-danger" loading={busy !== null} onClick={() => void remove()}>
          {t('delete.confirm')}
        </Button>
      </div>
    </Modal>
  )
}

function Acts({ checkpoint, onClose, onChange }: Props) {
  const { t } = useTranslation('checkpoints')
  const [dialog, setDialog] = useState<'label' | 'delete' | null>(null)
  const [busy, act] = useAct()
  const flip = () => act('pin', { run: () => changeCheckpoint(checkpoint.id, { pinned: !checkpoint.pinned }), done: () => t(checkpoint.pinned ? 'unpinned' : 'nowPinned', { number: checkpoint.checkpoint_id }), after: onChange })
  const keep = () => act('savepoint', { run: () => changeCheckpoint(checkpoint.id, { is_savepoint: true }), done: () => t('kept', { number: checkpoint.checkpoint_id }), after: onChange })
  const gone = checkpoint.status === 'EXPIRED'
  const close = () => setDialog(null)
  return (
    <span className="pw-line">
      <Button loading={busy === 'pin'} disabled={gone} leftSection={<IconPin size={14} />} onClick={() => void flip()}>
        {t(checkpoint.pinned ? 'unpin' : 'pin')}
      </Button>
      <Button disabled={gone} leftSection={<IconTag size={14} />} onClick={() => setDialog('label')}>
        {t('label.act')}
      </Button>
      {!checkpoint.is_savepoint && (
        <Button loading={busy === 'savepoint'} disabled={checkpoint.status !== 'COMPLETED'} leftSection={<IconDeviceFloppy size={14} />} onClick={() => void keep()}>
          {t('keep')}
        </Button>
      )}
      <span className="pw-grow" />
      {checkpoint.restorable && (
        <Tooltip label={t('travel.export')}>
          <ActionIcon component="a" href={`/api/checkpoints/${checkpoint.id}/archive`} download aria-label={t('travel.export')}>
            <IconDownload size={14} />
          </ActionIcon>
        </Tooltip>
      )}
      <Tooltip label={t('delete.act')}>
        <ActionIcon className="pw-danger" disabled={gone || checkpoint.status === 'PENDING'} aria-label={t('delete.act')} onClick={() => setDialog('delete')}>
          <IconTrash size={14} color="var(--state-failed)" />
        </ActionIcon>
      </Tooltip>
      {dialog === 'label' && <LabelDialog checkpoint={checkpoint} onClose={close} onChange={onChange} />}
      {dialog === 'delete' && <DeleteDialog checkpoint={checkpoint} onClose={() => { close(); onClose() }} onChange={onChange} />}
    </span>
  )
}

function Operators({ checkpoint }: { checkpoint: Checkpoint }) {
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
      {opened && <Suspense><StateDialog checkpoint={checkpoint} onClose={() => setOpened(false)} /></Suspense>}
      <table className="pw-facts">
        <tbody>
          {operators.map((operator, index) => (
            <tr key={index}>
              <th scope="row">{String(operator.node_id || operator.operator || '')}</th>
              <td>{count(Number(operator.rows ?? 0))} {t('detail.rows')}</td>
              <td><SizeFigure value={Number(operator.bytes ?? 0)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
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

/** One checkpoint with all that is known of it, and what one can do with it. */
export function CheckpointDetail({ checkpoint, onClose, onChange, onCompare }: Props) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const operates = useMay()('OPERATOR', checkpoint.project)
  const batches = Object.entries(checkpoint.queries).map(([query, one]) => `${query}: ${String((one as { batch_id?: number }).batch_id ?? '–')}`)
  const facts: [string, React.ReactNode][] = [
    ...cameFrom(t, checkpoint),
    [t('detail.origin'), checkpoint.requested_by ? `${t(`shared:origin.${checkpoint.origin}`)}, ${checkpoint.requested_by}` : t(`shared:origin.${checkpoint.origin}`)],
    [t('detail.generation'), <span key="g" className="pw-mono-11" title={checkpoint.generation}>{checkpoint.generation.slice(0, 8)}</span>],
    [t('detail.storage'), t(`store.${checkpoint.storage}`, { defaultValue: checkpoint.storage })],
    [t('column.logical'), <SizeFigure key="l" value={keptBytes(checkpoint, checkpoint.storage_size_bytes)} />],
    [t('column.exclusive'), <SizeFigure key="x" value={keptBytes(checkpoint, checkpoint.exclusive_bytes)} />],
  ]
  return (
    <aside className="pw-drawer" aria-label={t('detail.title', { number: checkpoint.checkpoint_id })}>
      <div className="pw-drawer-head">
        <div className="pw-line">
          <span className="pw-mono pw-3">{count(checkpoint.checkpoint_id)}</span>
          <b className="pw-cut pw-grow" title={checkpoint.job_title}>{checkpoint.job_title || checkpoint.job_name}</b>
          {onCompare && (
            <Tooltip label={t('compare.act')}>
              <ActionIcon variant="subtle" color="gray" aria-label={t('compare.act')} onClick={onCompare}>
                <IconColumns2 size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <ActionIcon variant="subtle" color="gray" aria-label={t('shared:close')} onClick={onClose}>
            <IconX size={16} />
          </ActionIcon>
        </div>
        <div className="pw-line">
          <StateBadge state={checkpoint.status} />
          <span className="pw-12 pw-2 pw-nowrap"><RelativeTime time={checkpoint.complete_time ?? checkpoint.create_time} /></span>
        </div>
        {operates && <Acts checkpoint={checkpoint} onClose={onClose} onChange={onChange} />}
        {checkpoint.source && <p className="pw-12 pw-2 pw-wrap" title={checkpoint.source.execution_id}>{t(`travel.${checkpoint.source.way}`, { job: checkpoint.source.job_name, number: checkpoint.source.checkpoint_id, by: checkpoint.source.by })}</p>}
        {checkpoint.label && <p className="pw-12 pw-2 pw-wrap">“{checkpoint.label}”</p>}
      </div>
      <div className="pw-drawer-body">
        {checkpoint.failure_reason && <p className="pw-bad pw-12 pw-wrap">{checkpoint.failure_reason}</p>}
        <dl className="pw-pairs">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <CheckpointPhases phases={checkpoint.phases} total={checkpoint.duration_ms} />
        <Operators key={checkpoint.id} checkpoint={checkpoint} />
        <section>
          <h3>{t('detail.offsets')}</h3>
          <CheckpointOffsets stateData={checkpoint.state_data} />
        </section>
        <section>
          <h3>{t('detail.manifest')} <span className="pw-11 pw-3">{t('detail.files', { count: checkpoint.file_count })}</span></h3>
          {batches.map((line) => <div key={line} className="pw-mono-11 pw-2 pw-wrap">{t('detail.batch')} {line}</div>)}
          {checkpoint.storage_path && <div className="pw-mono-11 pw-3 pw-wrap">{checkpoint.storage_path}</div>}
          <div className="pw-11 pw-3">{wholeTime(checkpoint.create_time)}</div>
          {checkpoint.delete_time && <div className="pw-11 pw-3">{t('detail.deleted', { time: wholeTime(checkpoint.delete_time), by: checkpoint.deleted_by })}</div>}
        </section>
        <details>
          <summary>{t('detail.raw')}</summary>
          <pre className="pw-json-row">{JSON.stringify(checkpoint.state_data, null, 2)}</pre>
        </details>
      </div>
      {operates && (
        <div className="pw-drawer-foot">
          <RestorePanel key={checkpoint.id} checkpoint={checkpoint} onChange={onChange} />
        </div>
      )}
    </aside>
  )
}
