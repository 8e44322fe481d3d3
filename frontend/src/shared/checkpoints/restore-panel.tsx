import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconChevronUp, IconCopy, IconRotate, IconRoute } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { Checkpoint } from '../../api/types'
import { refusalWords } from './one/server-words'
import { sourcePositions } from './travel/travel-requests'

const RestoreDialog = lazy(() => import('./restore-dialog'))
const CopyDialog = lazy(() => import('./travel/copy-dialog'))
const PositionsDialog = lazy(() => import('./travel/positions-dialog'))

/** What is open: the restore of this checkpoint or of the copy that was just made, or a dialog that makes one. */
type Opened = { dialog: 'restore'; of: Checkpoint } | { dialog: 'copy' | 'positions' } | null

/** Why no source can be set elsewhere, "" if one can; undefined until that is known. */
function useFixed(checkpoint: Checkpoint): string | undefined {
  const { t } = useTranslation('checkpoint')
  const { data, error } = useQuery({ queryKey: ['positions-fixed', checkpoint.id], queryFn: () => sourcePositions(checkpoint.id), retry: false, staleTime: Infinity })
  if (error) return error.message
  if (!data) return undefined
  if (data.some(({ ways }) => ways.length > 0)) return ''
  return [...new Set(data.map(({ refused }) => refusalWords(t, refused)))].join('; ') || t('checkpoints:detail.noOffsets')
}

function Positions({ checkpoint, onChoose }: { checkpoint: Checkpoint; onChoose: () => void }) {
  const { t } = useTranslation('checkpoints')
  const fixed = useFixed(checkpoint)
  return (
    <Menu.Item className={fixed === '' ? undefined : 'pw-way-off'} disabled={fixed !== ''} leftSection={<IconRoute size={14} />} onClick={onChoose}>
      {t('travel.positions')}
      {fixed && <span className="pw-way-reason">{fixed}</span>}
    </Menu.Item>
  )
}

/** The ways to a restore: here, elsewhere or from other positions. */
export function RestorePanel({ checkpoint, onChange }: { checkpoint: Checkpoint; onChange: () => void }) {
  const { t } = useTranslation(['checkpoints', 'checkpoint'])
  const navigate = useNavigate()
  const [opened, setOpened] = useState<Opened>(null)
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
    <>
      <div className="pw-way">
        <Button variant="filled" leftSection={<IconRotate size={14} />} onClick={() => setOpened({ dialog: 'restore', of: checkpoint })}>
          {t('restore.act')}
        </Button>
        <Menu position="top-end">
          <Menu.Target>
            <ActionIcon variant="filled" aria-label={t('checkpoint:otherWays')}>
              <IconChevronUp size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Positions checkpoint={checkpoint} onChoose={() => setOpened({ dialog: 'positions' })} />
            <Menu.Item leftSection={<IconCopy size={14} />} onClick={() => setOpened({ dialog: 'copy' })}>
              {t('travel.copy')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
      <Suspense>
        {opened?.dialog === 'restore' && <RestoreDialog key={opened.of.id} checkpoint={opened.of} onClose={close} onCopied={moved} />}
        {opened?.dialog === 'copy' && <CopyDialog checkpoint={checkpoint} onClose={close} onDone={copied} />}
        {opened?.dialog === 'positions' && <PositionsDialog checkpoint={checkpoint} onClose={close} onDone={moved} />}
      </Suspense>
    </>
  )
}
