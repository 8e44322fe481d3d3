import { Button, Modal, SegmentedControl, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { JobType } from '../../api/types'
import { ProjectField } from '../../shared/project-field'
import { whileWritten } from '../../shared/while-written'
import { createJob } from './job-requests'
import { slugOf } from './slug'

const TYPES: readonly JobType[] = ['STREAMING', 'BATCH_ROLLER', 'SQL_TASK']

/** A title, the name made from it, and the type; then the empty canvas. */
export function NewJobDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation(['jobs', 'shared'])
  const navigate = useNavigate()
  const [title, setTitle] = useState('')
  const [name, setName] = useState<string | null>(null)
  const [type, setType] = useState<JobType>('STREAMING')
  const [project, setProject] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const typed = name ?? slugOf(title)
  const slug = slugOf(typed)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    if (!slug) {
      setError(t('new.nameMissing'))
      return
    }
    setBusy(true)
    try {
      const made = await createJob(slug, title.trim(), type, project)
      void navigate(`/jobs/${encodeURIComponent(made.job_name)}`)
    } catch (failure) {
      setError((failure as Error).message)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} {...whileWritten(title !== '' || name !== null)} title={t('new.title')} size={460}>
      <form className="pw-form-column" onSubmit={(event) => void create(event)}>
        <TextInput data-autofocus label={t('new.jobTitle')} value={title} maxLength={200} onChange={(event) => { setTitle(event.currentTarget.value); setError('') }} />
        <TextInput label={t('new.name')} description={slug && slug !== typed ? t('new.becomes', { name: slug }) : t('new.nameHelp')} value={typed} maxLength={200} error={error} inputWrapperOrder={['label', 'input', 'error', 'description']} classNames={{ input: 'pw-mono' }} onChange={(event) => { setName(event.currentTarget.value); setError('') }} />
        <div>
          <div className="pw-label">{t('column.type')}</div>
          <SegmentedControl size="xs" fullWidth value={type} onChange={(value) => setType(value as JobType)} data={TYPES.map((value) => ({ value, label: t(`shared:jobType.${value}`) }))} />
          <p className="pw-help">{t(`new.typeHelp.${type}`)}</p>
        </div>
        <ProjectField value={project} onChange={setProject} />
        <div className="pw-form-acts">
          <Button onClick={onClose}>{t('shared:cancel')}</Button>
          <Button type="submit" variant="filled" loading={busy}>
            {t('new.create')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
