import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconBookmark, IconDeviceFloppy, IconDots, IconPencil, IconPlayerPlay, IconPlayerStop, IconRotate, IconX } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { Checkpoint, Execution } from '../../api/types'
import { useMay } from '../../api/use-may'
import { isFinal } from '../../shared/execution-state'
import { useAct } from '../../shared/use-act'
import { useStart } from '../../shared/use-start'
import { CancelDialog } from './cancel-dialog'
import { askExecution, type ExecutionAct } from './execution-requests'

const SavepointDialog = lazy(() => import('./savepoint-dialog'))

interface Props {
  execution: Execution
  checkpoints: readonly Checkpoint[]
  /** An act somebody asked for that has not happened yet. */
  asked: 'stop' | 'cancel' | null
}

/** What one can ask of this execution in its state; each answers at once and says what it did. */
export function ExecutionActions({ execution, checkpoints, asked }: Props) {
  const { t } = useTranslation('executions')
  const navigate = useNavigate()
  const [cancelling, setCancelling] = useState(false)
  const [saving, setSaving] = useState(false)
  const [busy, act] = useAct()
  const [starting, start] = useStart()
  const id = execution.execution_id
  const ask = (name: ExecutionAct) => () => void act(name, { run: () => askExecution(id, name), done: () => t(`act.${name}Done`) })
  const { status } = execution
  const may = useMay()
  const operates = may('OPERATOR', execution.project)
  const edits = may('EDITOR', execution.project)
  const final = isFinal(status)
  const restorable = checkpoints.find((one) => one.restorable)
  const go = (started: string) => void navigate(`/executions/${started}`)
  return (
    <span className="pw-line">
      {operates && status === 'RUNNING' && (
        <>
          <Button loading={busy === 'checkpoint'} leftSection={<IconBookmark size={14} />} onClick={ask('checkpoint')}>
            {t('act.checkpoint')}
          </Button>
          <Button leftSection={<IconDeviceFloppy size={14} />} onClick={() => setSaving(true)}>
            {t('act.savepoint')}
          </Button>
        </>
      )}
      {operates && !final && status !== 'PAUSED' && (
        <Button loading={busy === 'stop'} disabled={asked !== null} leftSection={<IconPlayerStop size={14} />} onClick={ask('stop')}>
          {t(asked === 'stop' ? 'act.stopping' : 'act.stop')}
        </Button>
      )}
      {operates && status === 'PAUSED' && (
        <Button variant="filled" loading={busy === 'resume'} leftSection={<IconPlayerPlay size={14} />} onClick={ask('resume')}>
          {t('act.resume')}
        </Button>
      )}
      {operates && status === 'FAILED' && restorable && (
        <Button variant="filled" loading={starting} leftSection={<IconRotate size={14} />} onClick={() => void start(execution.job_name, restorable.id, go)}>
          {t('act.retryFrom', { number: restorable.checkpoint_id })}
        </Button>
      )}
      {operates && final && (
        <Button loading={starting} variant={status === 'FAILED' && restorable ? 'default' : 'filled'} leftSection={<IconPlayerPlay size={14} />} onClick={() => void start(execution.job_name, undefined, go)}>
          {t(status === 'FAILED' ? 'act.retry' : 'act.again')}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={t('act.more')}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={14} />} onClick={() => void navigate(`/jobs/${encodeURIComponent(execution.job_name)}`)}>
            {t(edits ? 'act.edit' : 'act.look')}
          </Menu.Item>
          {operates && final && (
            <Menu.Item leftSection={<IconRotate size={14} />} onClick={() => void start(execution.job_name, 'beginning', go)}>
              {t('act.beginning')}
            </Menu.Item>
          )}
          {operates && !final && (
            <Menu.Item color="var(--state-failed)" leftSection={<IconX size={14} />} onClick={() => setCancelling(true)}>
              {t(asked === 'cancel' ? 'act.force' : 'act.cancel')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {saving && <Suspense><SavepointDialog executionId={id} onClose={() => setSaving(false)} /></Suspense>}
      {cancelling && <CancelDialog execution={execution} force={asked === 'cancel'} onClose={() => setCancelling(false)} />}
    </span>
  )
}
