import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Orphan } from '../../../api/types'
import { SizeFigure } from '../../../shared/checkpoints/size-figure'
import { useAct } from '../../../shared/use-act'
import { cleanUp, useOrphans, useRetention, type Asked } from './cleaning-requests'
import './i18n'
import { Place } from './place'
import RetentionPanel from './retention-panel'

/** What goes beside checkpoints, as far as it was read. */
function DueOrphans({ due, rows }: { due: number; rows: readonly Orphan[] }) {
  const { t } = useTranslation('cleaning')
  return (
    <details className="pw-due-orphans">
      <summary>{t('orphansToo', { count: due })}</summary>
      <ul>
        {rows.map((one) => (
          <li key={`${one.storage} ${one.path}`}>
            <span>{t(`orphan.kind.${one.kind}`)}</span>
            <Place path={one.path} />
            <span><SizeFigure value={one.bytes} /></span>
          </li>
        ))}
      </ul>
      {rows.length < due && <p className="pw-help">{t('orphansMore', { count: due - rows.length })}</p>}
    </details>
  )
}

/** The dry run first: what goes, what stays, and why; then the same for real. */
export default function CleanupDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation(['cleaning', 'shared'])
  const [busy, act] = useAct()
  const [asked, setAsked] = useState<Asked>({ action: 'delete', operated: true })
  const reasons = useRetention({ action: 'delete', operated: true }).facts?.reasons
  const left = useOrphans({ operated: true })
  const orphans = left.facts?.kinds
  const due = (orphans ?? []).reduce((sum, one) => sum + (one.kind === 'NO_FILES' ? 0 : one.due), 0)
  const marked = (orphans ?? []).reduce((sum, one) => sum + (one.kind === 'NO_FILES' ? one.due : 0), 0)
  const going = (reasons ?? []).reduce((sum, one) => sum + (one.action === 'delete' ? one.count : 0), 0) + due
  const isKnown = reasons !== undefined && orphans !== undefined
  const confirm = async () => {
    if (await act('clean', { run: cleanUp, done: (result) => t('done', { count: result.deleted }), after: onDone })) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('title')} size={900}>
      <p className="pw-help">{t('help')}{marked > 0 && ` ${t('marksToo', { count: marked })}`}</p>
      <RetentionPanel asked={asked} onAsk={(more) => setAsked({ ...more, operated: true })} narrow />
      {due > 0 && <DueOrphans due={due} rows={(left.rows ?? []).filter((one) => one.due && one.kind !== 'NO_FILES')} />}
      <div className="pw-form-acts">
        <Button onClick={onClose}>{t('shared:close')}</Button>
        <Button className="pw-danger" disabled={!isKnown || going + marked === 0} loading={busy !== null} onClick={() => void confirm()}>
          {!isKnown || going > 0 ? t('confirm', { count: going }) : t(marked > 0 ? 'mark' : 'nothing', { count: marked })}
        </Button>
      </div>
    </Modal>
  )
}
