import { Button, Modal } from '@mantine/core'
import { IconFileUpload } from '@tabler/icons-react'
import { lazy, Suspense, useRef, useState, type DragEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { importJob, type ImportOutcome } from '../../api/import-job'
import { said } from '../../api/sentences/said'
import { useConnectionAsked } from '../../shared/connection-asked'
import { ProjectField } from '../../shared/project-field'
import { StateGlyph } from '../../shared/state-glyph'

const ProposedConnections = lazy(() => import('./proposed-connections'))

function OutcomeLine({ outcome }: { outcome: ImportOutcome }) {
  const { t } = useTranslation('jobs')
  const errors = outcome.problems.filter((problem) => problem.severity === 'error')
  return (
    <li>
      <StateGlyph state={outcome.job ? (errors.length ? 'warning' : 'completed') : 'failed'} />
      <div className="pw-grow">
        <div className="pw-cut">{outcome.file}</div>
        <div className="pw-11 pw-3">{outcome.error || (outcome.job ? (errors.length ? t('import.toMend', { count: errors.length, project: outcome.project }) : t('import.kept', { project: outcome.project })) : said(outcome.problems[0]?.message ?? '') || t('import.unreadable'))}</div>
      </div>
      {outcome.job && (
        <Link className="pw-link" to={`/jobs/${encodeURIComponent(outcome.job)}`}>
          {t('import.open')}
        </Link>
      )}
    </li>
  )
}

/** Jobs from files: JSON, YAML or the linear shorthand, by choice or by drop. */
export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation(['jobs', 'shared'])
  const input = useRef<HTMLInputElement>(null)
  const [project, setProject] = useState('')
  const [over, setOver] = useState(false)
  const [busy, setBusy] = useState(false)
  const [outcomes, setOutcomes] = useState<ImportOutcome[]>([])
  // Its form stands over this dialog, and Escape is for that one alone.
  const isOver = useConnectionAsked((state) => state.asked !== null)
  const proposed = outcomes.flatMap(({ connections, project }) => connections.map((connection) => ({ ...connection, project })))
  const take = async (files: FileList | null) => {
    if (!files?.length) return
    setBusy(true)
    for (const file of files) {
      const outcome = await importJob(file, project)
      setOutcomes((old) => [...old, outcome])
    }
    setBusy(false)
    onDone()
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take(event.dataTransfer.files)
  }
  return (
    <Modal opened onClose={onClose} closeOnEscape={!isOver} title={t('import.title')} size={520}>
      <ProjectField value={project} onChange={setProject} />
      <div className="pw-drop" data-over={over || undefined} onDragOver={(event) => { event.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <IconFileUpload size={20} stroke={1.5} aria-hidden />
        <p>{t('import.help')}</p>
        <Button loading={busy} onClick={() => input.current?.click()}>
          {t('import.choose')}
        </Button>
        <input ref={input} type="file" multiple hidden accept=".json,.yaml,.yml,application/json" aria-label={t('import.choose')} onChange={(event) => void take(event.target.files)} />
      </div>
      <ul className="pw-outcomes" aria-live="polite">
        {outcomes.map((outcome, index) => (
          <OutcomeLine key={index} outcome={outcome} />
        ))}
      </ul>
      {proposed.length > 0 && (
        <Suspense fallback={null}>
          <ProposedConnections connections={proposed} />
        </Suspense>
      )}
      <div className="pw-form-acts">
        <Button onClick={onClose}>{t('shared:close')}</Button>
      </div>
    </Modal>
  )
}
