import { Button } from '@mantine/core'
import { IconCopy, IconRotate, IconRoute } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { Checkpoint } from '../../api/types'
import { notRestorable } from './not-restorable'

const RestoreDialog = lazy(() => import('./restore-dialog'))
const CopyDialog = lazy(() => import('./travel/copy-dialog'))
const PositionsDialog = lazy(() => import('./travel/positions-dialog'))

/** What is open: the restore of this checkpoint or of the copy that was just made, or a dialog that makes one. */
type Opened = { dialog: 'restore'; of: Checkpoint } | { dialog: 'copy' | 'positions' } | null

/** The ways to a restore, here, elsewhere or from other positions; or why there is none. */
export function RestorePanel({ checkpoint, onChange }: { checkpoint: Checkpoint; onChange: () => void }) {
  const { t } = useTranslation('checkpoints')
  const navigate = useNavigate()
  const [opened, setOpened] = useState<Opened>(null)
  if (!checkpoint.restorable) return <p className="pw-help pw-wrap">{notRestorable(t, checkpoint) || t('restore.not')}</p>
  const close = () => setOpened(null)
  const moved = (copy: Checkpoint) => {
    setOpened({ dialog: 'restore', of: copy })
    onChange()
  }
  const copied = (copy: Checkpoint) => {
    close()
    onChange()
    void navigate(`/checkpoints?job=${encodeURIComponent(copy.job_name)}&checkpoint=${copy.id}`)
  }
  return (
    <div className="pw-ways">
      <Button variant="filled" fullWidth leftSection={<IconRotate size={14} />} onClick={() => setOpened({ dialog: 'restore', of: checkpoint })}>
        {t('restore.act')}
      </Button>
      <Button leftSection={<IconRoute size={14} />} onClick={() => setOpened({ dialog: 'positions' })}>
        {t('travel.positions')}
      </Button>
      <Button leftSection={<IconCopy size={14} />} onClick={() => setOpened({ dialog: 'copy' })}>
        {t('travel.copy')}
      </Button>
      <Suspense>
        {opened?.dialog === 'restore' && <RestoreDialog key={opened.of.id} checkpoint={opened.of} onClose={close} onCopied={moved} />}
        {opened?.dialog === 'copy' && <CopyDialog checkpoint={checkpoint} onClose={close} onDone={copied} />}
        {opened?.dialog === 'positions' && <PositionsDialog checkpoint={checkpoint} onClose={close} onDone={moved} />}
      </Suspense>
    </div>
  )
}
