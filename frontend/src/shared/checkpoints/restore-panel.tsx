import { Button } from '@mantine/core'
import { IconRotate } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../api/types'
import { notRestorable } from './not-restorable'

const RestoreDialog = lazy(() => import('./restore-dialog'))

/** The way to a restore, or why there is none. */
export function RestorePanel({ checkpoint }: { checkpoint: Checkpoint }) {
  const { t } = useTranslation('checkpoints')
  const [opened, setOpened] = useState(false)
  if (!checkpoint.restorable) return <p className="pw-help pw-wrap">{notRestorable(t, checkpoint) || t('restore.not')}</p>
  return (
    <>
      <Button variant="filled" fullWidth leftSection={<IconRotate size={14} />} onClick={() => setOpened(true)}>
        {t('restore.act')}
      </Button>
      {opened && (
        <Suspense>
          <RestoreDialog checkpoint={checkpoint} onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  )
}
