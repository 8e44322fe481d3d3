import { Button } from '@mantine/core'
import { IconRotate } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { Checkpoint } from '../../api/types'
import { Failure } from '../failure'
import { StateGlyph } from '../state-glyph'
import { useAct } from '../use-act'
import { notRestorable } from './not-restorable'
import { precheckRestore, restoreCheckpoint } from './checkpoint-requests'

/** First the checks, then the start: what a restore would do stands there before it is done. */
export function RestorePanel({ checkpoint }: { checkpoint: Checkpoint }) {
  const { t } = useTranslation('checkpoints')
  const navigate = useNavigate()
  const [wanted, setWanted] = useState(false)
  const [busy, act] = useAct()
  const checks = useQuery({ queryKey: ['precheck', checkpoint.id], queryFn: () => precheckRestore(checkpoint.id), enabled: wanted, gcTime: 0, refetchOnWindowFocus: false })
  const restore = () =>
    act('restore', {
      run: () => restoreCheckpoint(checkpoint.id),
      done: () => t('restore.done', { number: checkpoint.checkpoint_id }),
      after: (started) => void navigate(`/executions/${started.execution_id}`),
    })
  if (!checkpoint.restorable) return <p className="pw-help pw-wrap">{notRestorable(t, checkpoint) || t('restore.not')}</p>
  if (!wanted) {
    return (
      <Button variant="filled" fullWidth leftSection={<IconRotate size={14} />} onClick={() => setWanted(true)}>
        {t('restore.act')}
      </Button>
    )
  }
  return (
    <section>
      <h3>{t('restore.title')}</h3>
      {checks.isFetching && <p className="pw-help">{t('restore.checking')}</p>}
      {checks.error && <Failure error={checks.error} what={t('restore.title')} retry={() => void checks.refetch()} />}
      <ul className="pw-checks">
        {checks.data?.checks.map((check) => (
          <li key={check.name}>
            <StateGlyph state={check.ok ? (check.severity === 'warning' ? 'warning' : 'completed') : check.severity === 'warning' ? 'warning' : 'failed'} />
            <span className="pw-wrap">{check.message || check.name}</span>
          </li>
        ))}
      </ul>
      {checks.data && (
        <div className="pw-form-acts">
          <Button onClick={() => void checks.refetch()}>{t('restore.again')}</Button>
          <Button variant="filled" disabled={!checks.data.ok} loading={busy !== null} leftSection={<IconRotate size={14} />} onClick={() => void restore()}>
            {t('restore.confirm')}
          </Button>
        </div>
      )}
    </section>
  )
}
