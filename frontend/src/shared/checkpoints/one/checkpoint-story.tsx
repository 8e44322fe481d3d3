import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { said } from '../../../api/sentences/said'
import type { Checkpoint, CheckpointDetailFacts } from '../../../api/types'
import { RelativeTime } from '../../relative-time'
import { StateGlyph } from '../../state-glyph'
import { useStateWord } from '../../state-word'
import { wholeTime } from '../../times'
import { isDamaged } from '../shown-state'
import { damageWords, deletionWords } from './server-words'

/** Why nothing can start from it, once, and where one can instead. */
export function NotGood({ checkpoint, facts }: { checkpoint: Checkpoint; facts: CheckpointDetailFacts | undefined }) {
  const { t } = useTranslation(['checkpoint', 'checkpoints'])
  if (checkpoint.restorable || checkpoint.status === 'PENDING') return null
  const damaged = isDamaged(checkpoint)
  const { status, failure_reason: reason } = checkpoint
  const nearest = facts?.nearest_good
  return (
    <section className="pw-not-good" data-damaged={status !== 'EXPIRED' || undefined} role="note">
      {damaged && <b>{t('damage.title')}</b>}
      <p className="pw-wrap">{damaged ? damageWords(t, reason) : status === 'FAILED' && reason ? said(reason) : t(`checkpoints:reason.${status}`)}</p>
      {nearest && (
        <p>
          {/* With its own page, for it may be of another execution. */}
          <Link className="pw-link" to={`/executions/${nearest.execution_id}?tab=checkpoints&checkpoint=${nearest.id}`}>{t('nearest', { number: nearest.checkpoint_id })}</Link>
          {' · '}<RelativeTime time={nearest.create_time} />
        </p>
      )}
      {facts && !nearest && <p>{t('noNearest')}</p>}
    </section>
  )
}

function Deleted({ checkpoint, reason }: { checkpoint: Checkpoint; reason: string }) {
  const { t } = useTranslation('checkpoint')
  if (!checkpoint.delete_time) return null
  const by = checkpoint.deleted_by === 'retention' ? t('rule') : checkpoint.deleted_by
  return (
    <section>
      <h3>{t('deleted')}</h3>
      <p className="pw-12 pw-2 pw-wrap">{t('deletedBy', { time: wholeTime(checkpoint.delete_time), by })}{reason && `: ${deletionWords(t, reason)}`}</p>
    </section>
  )
}

/** What became of it: what deleted it and why, and the executions that went on from it. */
export function CheckpointStory({ checkpoint, facts }: { checkpoint: Checkpoint; facts: CheckpointDetailFacts | undefined }) {
  const { t } = useTranslation('checkpoint')
  const said = useStateWord()
  const restores = facts?.restored_by ?? []
  return (
    <>
      <Deleted checkpoint={checkpoint} reason={facts?.delete_reason ?? ''} />
      {facts && checkpoint.status !== 'FAILED' && checkpoint.status !== 'PENDING' && (
        <section>
          <h3>{t('restoredBy')}</h3>
          {restores.length === 0 && <p className="pw-12 pw-3">{t('notRestored')}</p>}
          <ul className="pw-restores">
            {restores.map((one) => (
              <li key={one.execution_id}>
                <StateGlyph state={one.status} label={said(one.status)} />
                <Link className="pw-link pw-mono-11" to={`/executions/${one.execution_id}`}>{one.execution_id.slice(0, 8)}</Link>
                <span className="pw-12 pw-2 pw-cut pw-grow">{[t('version', { version: one.version }), one.in_place ? t('inPlace') : one.created_by && t('by', { name: one.created_by })].filter(Boolean).join(' · ')}</span>
                <span className="pw-12 pw-3 pw-nowrap"><RelativeTime time={one.create_time} /></span>
              </li>
            ))}
          </ul>
          {(facts.restored_by_more ?? 0) > 0 && <p className="pw-11 pw-3">{t('restoredMore', { count: facts.restored_by_more })}</p>}
        </section>
      )}
    </>
  )
}
