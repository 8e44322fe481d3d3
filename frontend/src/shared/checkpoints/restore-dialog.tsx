import { Button, Checkbox, Modal, SegmentedControl } from '@mantine/core'
import { IconRotate } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { Checkpoint, Precheck } from '../../api/types'
import { Failure } from '../failure'
import { StateGlyph } from '../state-glyph'
import { useAct } from '../use-act'
import { checkWords } from './check-words'
import { precheckRestore, restoreCheckpoint } from './checkpoint-requests'
import { GraphChanges } from './graph-changes'
import { ReplayWords } from './replay-words'
import { RollBackChoice } from './roll-back-choice'
import { SinkRollBacks } from './sink-roll-backs'

const OtherSavepoint = lazy(() => import('./travel/other-savepoint'))

const isSink = (check: Precheck['checks'][number]) => check.name.startsWith('sink.')
const glyphOf = (check: Precheck['checks'][number]) => (check.severity === 'warning' ? 'warning' : check.ok ? 'completed' : 'failed')

function Checks({ checks }: { checks: Precheck['checks'] }) {
  const { t } = useTranslation('checkpoints')
  return (
    <ul className="pw-checks">
      {checks.map((check, index) => (
        <li key={index}>
          <StateGlyph state={glyphOf(check)} />
          <span className="pw-wrap">{checkWords(t, check)}</span>
        </li>
      ))}
    </ul>
  )
}

function Found({ found, rollsBack }: { found: Precheck; rollsBack: boolean }) {
  const { t } = useTranslation('checkpoints')
  const rollsBackAt = (check: Precheck['checks'][number]) => found.roll_backs.find((one) => check.name === `sink.${one.node_id}` && (rollsBack || one.way !== 'removed'))
  const sinks = found.checks.filter(isSink)
  return (
    <>
      <Checks checks={found.checks.filter((check) => !isSink(check) && check.name !== 'graph')} />
      {found.changes.length > 0 ? <GraphChanges changes={found.changes} /> : <Checks checks={found.checks.filter((check) => check.name === 'graph')} />}
      <section>
        <h3>{t('replay.title')}</h3>
        <ReplayWords replay={found.replay} changes={found.changes} />
        <Checks checks={sinks.filter((check) => !rollsBackAt(check))} />
        <SinkRollBacks rollBacks={sinks.flatMap((check) => rollsBackAt(check) ?? [])} />
      </section>
    </>
  )
}

interface Choice {
  checkpoint: Checkpoint
  found: Precheck | undefined
  version: string
  onVersion: (version: string) => void
}

/** Its own version, or the one that is current by now. */
function VersionChoice({ found, version, onVersion }: Choice) {
  const { t } = useTranslation('checkpoints')
  if (!found?.current_version || !found.own_version || found.current_version === found.own_version) return null
  const data = [
    { value: '', label: t('restore.own', { version: found.own_version }) },
    { value: 'current', label: t('restore.current', { version: found.current_version }) },
  ]
  return <SegmentedControl size="xs" fullWidth data={data} value={version} onChange={onVersion} aria-label={t('restore.version')} />
}

/** Why nothing can be started as it stands, "" if it can. */
function useHindrance(found: Precheck | undefined, allowed: boolean): string {
  const { t } = useTranslation('checkpoints')
  if (!found) return t('restore.checking')
  const hindering = found.checks.find((check) => !check.ok)
  if (hindering?.name === 'graph') return t('restore.needsFreshStart')
  if (hindering) return checkWords(t, hindering)
  return found.drops_state && !allowed ? t('restore.needsConsent') : ''
}

/** First what a restore would meet, node by node, then the start. */
function Restore({ checkpoint }: { checkpoint: Checkpoint }) {
  const { t } = useTranslation('checkpoints')
  const navigate = useNavigate()
  const [version, setVersion] = useState('')
  const [allowed, setAllowed] = useState(false)
  const [wantsRollBack, setWantsRollBack] = useState(false)
  const [busy, act] = useAct()
  const checks = useQuery({ queryKey: ['precheck', checkpoint.id, version], queryFn: () => precheckRestore(checkpoint.id, version), gcTime: 0, refetchOnWindowFocus: false, placeholderData: (before: Precheck | undefined) => before })
  const found = checks.isFetching ? undefined : checks.data
  const hindrance = useHindrance(found, allowed)
  const canRollBack = found?.roll_backs.some((one) => one.way === 'removed') ?? false
  const rollsBack = wantsRollBack && canRollBack
  const restore = () =>
    act('restore', {
      run: () => restoreCheckpoint(checkpoint.id, { version: found?.version, allow_non_restored_state: allowed, roll_back: rollsBack }),
      done: () => t('restore.done', { number: checkpoint.checkpoint_id }),
      after: (started) => void navigate(`/executions/${started.execution_id}`),
    })
  return (
    <>
      <div className="pw-restore">
        <VersionChoice checkpoint={checkpoint} found={checks.data} version={version} onVersion={(chosen) => { setVersion(chosen); setAllowed(false) }} />
        {checks.isFetching && <p className="pw-help" role="status">{t('restore.checking')}</p>}
        {checks.error && <Failure error={checks.error} what={t('restore.title', { number: checkpoint.checkpoint_id })} retry={() => void checks.refetch()} />}
        {found && <Found found={found} rollsBack={rollsBack} />}
      </div>
      {found?.drops_state && <Checkbox mt={8} size="xs" checked={allowed} onChange={(event) => setAllowed(event.currentTarget.checked)} label={t('restore.allow')} />}
      {canRollBack && <RollBackChoice chosen={wantsRollBack} onChoose={setWantsRollBack} />}
      <div className="pw-form-acts pw-restore-acts">
        <span id="pw-restore-why" className="pw-12 pw-2 pw-grow pw-wrap">{hindrance}</span>
        <Button onClick={() => void checks.refetch()}>{t('restore.again')}</Button>
        <Button variant="filled" disabled={hindrance !== ''} aria-describedby="pw-restore-why" loading={busy !== null} leftSection={<IconRotate size={14} />} onClick={() => void restore()}>
          {t('restore.confirm')}
        </Button>
      </div>
    </>
  )
}

interface Props {
  checkpoint: Checkpoint
  onClose: () => void
  /** Another job's savepoint was chosen: the copy of it that this job has now. */
  onCopied: (copy: Checkpoint) => void
}

/** The job goes on from this checkpoint, or from a savepoint of another job, which is copied first and then looked at like any other. */
export default function RestoreDialog({ checkpoint, onClose, onCopied }: Props) {
  const { t } = useTranslation('checkpoints')
  const [from, setFrom] = useState('this')
  const data = [
    { value: 'this', label: t('restore.this', { number: checkpoint.checkpoint_id }) },
    { value: 'other', label: t('restore.other') },
  ]
  return (
    <Modal opened onClose={onClose} title={from === 'this' ? t('restore.title', { number: checkpoint.checkpoint_id }) : t('restore.otherTitle')} size={760}>
      <SegmentedControl size="xs" fullWidth mb={8} data={data} value={from} onChange={setFrom} aria-label={t('restore.from')} />
      {checkpoint.source && <p className="pw-12 pw-2 pw-wrap">{t(`travel.${checkpoint.source.way}`, { job: checkpoint.source.job_name, number: checkpoint.source.checkpoint_id, by: checkpoint.source.by })}</p>}
      {from === 'this' ? <Restore checkpoint={checkpoint} /> : <Suspense><OtherSavepoint job={checkpoint.job_name} project={checkpoint.project} onDone={onCopied} /></Suspense>}
    </Modal>
  )
}
