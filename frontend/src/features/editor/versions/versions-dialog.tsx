import { Button, Modal, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { bothOf, differenceOf, isNone } from '../../../dag/difference'
import { completeLayout } from '../../../dag/layout'
import { answer } from '../../../shared/answers'
import { RelativeTime } from '../../../shared/relative-time'
import { useEditor, type Drawing } from '../editor-store'
import { DiffCanvas } from './diff-canvas'
import { DifferenceList } from './difference-list'
import './i18n'
import { NotRead } from './not-read'
import { readVersion, readVersions, withDefaults, type Version } from './version-requests'
import './versions.css'

function VersionList({ versions, chosen, current, choose }: { versions: readonly Version[]; chosen: number; current: number | null; choose: (version: number) => void }) {
  const { t } = useTranslation('versions')
  return (
    <nav className="pw-versions-list" aria-label={t('list')}>
      {versions.map(({ version, comment, create_time, created_by }) => (
        <button key={version} type="button" aria-current={version === chosen || undefined} onClick={() => choose(version)}>
          <span>
            <b>v{version}</b> {version === current && <span className="pw-chip">{t('running')}</span>}
          </span>
          <span className={comment ? 'pw-wrap' : 'pw-dim'}>{comment || t('noComment')}</span>
          <span className="pw-dim pw-12">
            <RelativeTime time={create_time} /> {created_by && `· ${created_by}`}
          </span>
        </button>
      ))}
    </nav>
  )
}

/** Takes back what was just done, and nothing that was done after it. */
const undoOf = (done: Drawing, late: () => string) => () => {
  const { jobName, history, undo } = useEditor.getState()
  if (jobName && history.present === done) undo()
  else answer(false, late())
}

/** One version beside the draft; whoever may draw can take it back. */
function OneVersion({ jobName, version, onTaken }: { jobName: string; version: number; onTaken: () => void }) {
  const { t } = useTranslation('versions')
  const { document: draft, layout } = useEditor((state) => state.history.present)
  const catalogue = useEditor((state) => state.catalogue)
  const readOnly = useEditor((state) => state.readOnly)
  const kept = useQuery({ queryKey: ['version', jobName, version], queryFn: () => readVersion(jobName, version), staleTime: Infinity, retry: false })
  const drawn = useQuery({ queryKey: ['with-defaults', draft], queryFn: () => withDefaults(draft), staleTime: Infinity, gcTime: 0, retry: false })
  const before = kept.data?.document
  const after = drawn.data
  const compared = useMemo(() => before && after && { difference: differenceOf(before, after), both: bothOf(before, after) }, [before, after])
  const failed = [kept, drawn].find(({ error }) => error)
  if (failed?.error) return <NotRead message={failed.error.message} again={() => void failed.refetch()} />
  if (!before || !compared) return <p className="pw-dim" aria-busy="true">{t('loading')}</p>
  const isSame = isNone(compared.difference)
  const take = () => {
    const { change } = useEditor.getState()
    change({ document: before, layout: completeLayout(before, layout) })
    answer(true, t('taken', { version }), { words: t('undo'), run: undoOf(useEditor.getState().history.present, () => t('undoLate')) })
    onTaken()
  }
  return (
    <>
      <div className="pw-versions-head">
        <h3>{t('difference', { version })}</h3>
        {!readOnly && !isSame && (
          <Tooltip label={t('takeHelp')} multiline w={300}>
            <Button variant="filled" onClick={take}>
              {t('take', { version })}
            </Button>
          </Tooltip>
        )}
      </div>
      {isSame ? (
        <p className="pw-dim">{t('same', { version })}</p>
      ) : (
        <>
          <DiffCanvas {...compared} layout={layout} catalogue={catalogue} />
          <DifferenceList {...compared} before={t('before', { version })} after={t('after')} />
        </>
      )}
    </>
  )
}

/** What was published, how each of it differs from what is drawn, and the way back to it. */
export default function VersionsDialog({ jobName, current, onClose }: { jobName: string; current: number | null; onClose: () => void }) {
  const { t } = useTranslation('versions')
  const [asked, choose] = useState<number | null>(null)
  const { data: versions, error, refetch } = useQuery({ queryKey: ['versions', jobName, current], queryFn: () => readVersions(jobName), retry: false })
  const chosen = asked ?? versions?.[0]?.version
  // Without a transition: a canvas that grows with its dialog measures its nodes too small.
  return (
    <Modal opened onClose={onClose} title={t('title')} size="min(1100px, 94vw)" transitionProps={{ duration: 0 }}>
      {error && <NotRead message={error.message} again={() => void refetch()} />}
      {!error && !versions && <p className="pw-dim" aria-busy="true">{t('loading')}</p>}
      {versions?.length === 0 && <p className="pw-dim">{t('none')}</p>}
      {versions && chosen !== undefined && (
        <div className="pw-versions">
          <VersionList versions={versions} chosen={chosen} current={current} choose={choose} />
          <div className="pw-versions-one">
            <OneVersion key={chosen} jobName={jobName} version={chosen} onTaken={onClose} />
          </div>
        </div>
      )}
    </Modal>
  )
}
