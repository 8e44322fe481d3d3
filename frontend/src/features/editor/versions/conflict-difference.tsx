import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { bothOf, differenceOf, isNone } from '../../../dag/difference'
import { readDraft } from '../draft-requests'
import { useEditor } from '../editor-store'
import { DiffCanvas } from './diff-canvas'
import { DifferenceList } from './difference-list'
import './i18n'
import { NotRead } from './not-read'
import './versions.css'

/** How what is drawn differs from `revision`, which somebody else saved meanwhile. */
export default function ConflictDifference({ revision, onClose }: { revision: number; onClose: () => void }) {
  const { t } = useTranslation('versions')
  const { document: mine, layout } = useEditor((state) => state.history.present)
  const catalogue = useEditor((state) => state.catalogue)
  const jobName = useEditor((state) => state.jobName)
  const { data, error, refetch } = useQuery({ queryKey: ['draft', jobName, revision], queryFn: () => readDraft(jobName), gcTime: 0, retry: false })
  const theirs = data?.document
  const compared = useMemo(() => theirs && { difference: differenceOf(theirs, mine), both: bothOf(theirs, mine) }, [theirs, mine])
  return (
    <Modal opened onClose={onClose} title={t('conflict.title')} size="min(1100px, 94vw)" transitionProps={{ duration: 0 }}>
      {error && <NotRead message={error.message} again={() => void refetch()} />}
      {!error && !compared && <p className="pw-dim" aria-busy="true">{t('loading')}</p>}
      {compared && isNone(compared.difference) && <p className="pw-dim">{t('conflict.same')}</p>}
      {compared && !isNone(compared.difference) && (
        <div className="pw-versions-one">
          <DiffCanvas {...compared} layout={layout} catalogue={catalogue} />
          <DifferenceList {...compared} before={t('conflict.before')} after={t('conflict.after')} />
        </div>
      )}
    </Modal>
  )
}
