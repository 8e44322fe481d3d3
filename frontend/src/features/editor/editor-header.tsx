import { ActionIcon, Button, Group, Menu, Modal, Textarea, Tooltip } from '@mantine/core'
import { IconArrowBackUp, IconArrowForwardUp, IconCheck, IconChevronDown, IconPlayerPlay } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { StartFrom } from '../../api/start-job'
import { covers } from '../../api/use-may'
import { worst } from '../../dag/problems'
import { answer } from '../../shared/answers'
import { later } from '../../shared/later'
import { StateGlyph } from '../../shared/state-glyph'
import { useStart } from '../../shared/use-start'
import type { JobHead } from './draft-requests'
import { useEditor } from './editor-store'
import { publishDrawing } from './publish-drawing'
import { SaveChip } from './save-chip'

const VersionsDialog = later(() => import('./versions/versions-dialog'))

interface Props {
  job: JobHead
  onPublished: () => void
  validate: () => Promise<void>
}

function History() {
  const { t } = useTranslation('canvas')
  const canUndo = useEditor((state) => state.history.past.length > 0)
  const canRedo = useEditor((state) => state.history.future.length > 0)
  return (
    <>
      <Tooltip label={t('undo')}>
        <ActionIcon variant="subtle" color="gray" disabled={!canUndo} aria-label={t('undo')} onClick={() => useEditor.getState().undo()}>
          <IconArrowBackUp size={16} stroke={1.75} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t('redo')}>
        <ActionIcon variant="subtle" color="gray" disabled={!canRedo} aria-label={t('redo')} onClick={() => useEditor.getState().redo()}>
          <IconArrowForwardUp size={16} stroke={1.75} />
        </ActionIcon>
      </Tooltip>
    </>
  )
}

function ProblemCount() {
  const { t } = useTranslation('canvas')
  const problems = useEditor((state) => state.problems)
  const first = worst(problems)
  if (!first) return null
  const isError = first.severity === 'error'
  return (
    <button type="button" className={`pw-problem-count${isError ? '' : ' pw-problem-warn'}`} onClick={() => useEditor.getState().focusProblem(first)}>
      <StateGlyph state={isError ? 'failed' : 'warning'} />
      {t('problemCount', { count: problems.length })}
    </button>
  )
}

/** A refused publish says why here and stays open, with the comment as it was. */
function PublishDialog({ onClose, publish }: { onClose: () => void; publish: (comment: string) => Promise<void> }) {
  const { t } = useTranslation('canvas')
  const [comment, setComment] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')
  const confirm = async () => {
    setBusy(true)
    setFailure('')
    try {
      await publish(comment)
      onClose()
    } catch (error) {
      setFailure((error as Error).message)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} title={t('publishTitle')} size={420}>
      <Textarea data-autofocus label={t('publishComment')} value={comment} maxLength={500} autosize minRows={2} onChange={(event) => setComment(event.currentTarget.value)} />
      {failure && (
        <p className="pw-bad pw-12 pw-wrap" role="alert">
          {failure}
        </p>
      )}
      <Group justify="flex-end" mt="md" gap="xs">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button variant="filled" loading={busy} onClick={() => void confirm()}>
          {t('publish')}
        </Button>
      </Group>
    </Modal>
  )
}

function RunButtons({ job }: { job: JobHead }) {
  const { t } = useTranslation('canvas')
  const navigate = useNavigate()
  const [starting, start] = useStart()
  const run = (from?: StartFrom) => void start(job.job_name, from, (id) => void navigate(`/executions/${id}`))
  return (
    <Button.Group>
      <Tooltip label={t('publishFirst')} disabled={Boolean(job.version)}>
        <Button variant="filled" disabled={!job.version} loading={starting} leftSection={<IconPlayerPlay size={14} />} onClick={() => run()}>
          {job.version ? t('runVersion', { version: job.version }) : t('run')}
        </Button>
      </Tooltip>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="filled" disabled={!job.version} px={6} aria-label={t('runOptions')}>
            <IconChevronDown size={14} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => run('continue')}>{t('runContinue')}</Menu.Item>
          <Menu.Item onClick={() => run('beginning')}>{t('runBeginning')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  )
}

/** What is published; a click shows all that ever was. */
function Versions({ job }: { job: JobHead }) {
  const { t } = useTranslation('canvas')
  const [open, setOpen] = useState(false)
  if (!job.version) return <span className="pw-dim">{t('neverPublished')}</span>
  return (
    <>
      <Tooltip label={t('versionsHelp')}>
        <button type="button" className="pw-head-link" onClick={() => setOpen(true)}>
          {t('publishedVersion', { version: job.version })}
        </button>
      </Tooltip>
      {open && (
        <Suspense>
          <VersionsDialog jobName={job.job_name} current={job.version} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

/** Title, state of the draft, problems, and the acts: validate, publish, run. */
export function EditorHeader({ job, onPublished, validate }: Props) {
  const { t } = useTranslation('canvas')
  const [publishing, setPublishing] = useState(false)
  const [validating, setValidating] = useState(false)
  const readOnly = useEditor((state) => state.readOnly)
  const errors = useEditor((state) => state.problems.filter((problem) => problem.severity === 'error').length)
  const checking = useEditor((state) => state.checked !== state.history.present.document)
  const empty = useEditor((state) => Object.keys(state.history.present.document.nodes).length === 0)
  const whyNot = errors > 0 ? t('fixFirst', { count: errors }) : empty ? t('emptyCanvas') : checking ? t('checkedFirst') : ''
  const publish = async (comment: string) => {
    await publishDrawing(comment)
    onPublished()
  }
  const check = async () => {
    setValidating(true)
    await validate().catch((error: Error) => answer(false, error.message))
    setValidating(false)
  }

  return (
    <header className="pw-editor-head">
      <h1 className="pw-cut" title={job.title || job.job_name}>
        {job.title || job.job_name}
      </h1>
      {job.title && <span className="pw-mono pw-dim">{job.job_name}</span>}
      <SaveChip />
      <Versions job={job} />
      <span className="pw-grow" />
      {!readOnly && <History />}
      <ProblemCount />
      <Button loading={validating} onClick={() => void check()}>
        {t('validate')}
      </Button>
      {!readOnly && (
        <Tooltip label={whyNot} disabled={!whyNot}>
          <Button disabled={Boolean(whyNot)} leftSection={<IconCheck size={14} />} onClick={() => setPublishing(true)}>
            {t('publish')}
          </Button>
        </Tooltip>
      )}
      {covers(job.role, 'OPERATOR') && <RunButtons job={job} />}
      {publishing && <PublishDialog onClose={() => setPublishing(false)} publish={publish} />}
    </header>
  )
}
