import { ActionIcon, Autocomplete, Button, Modal, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { Configs, Job } from '../../api/types'
import { answer } from '../../shared/answers'
import { Failure } from '../../shared/failure'
import { SkeletonBar } from '../../shared/skeleton'
import { whileWritten } from '../../shared/while-written'
import { configChanges, type ConfigRow } from './config-changes'
import { changeConfigs, readConfigs } from './job-requests'

interface FormProps {
  job: Job
  found: Configs
  onClose: () => void
  onWritten: (isWritten: boolean) => void
}

function ConfigForm({ job, found, onClose, onWritten }: FormProps) {
  const { t } = useTranslation(['jobs', 'shared'])
  const [begun] = useState<ConfigRow[]>(() => found.results.map(({ config_key, config_value, description }) => ({ config_key, config_value, description })))
  const [rows, setRows] = useState(begun)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const change = (index: number, part: Partial<ConfigRow>) => {
    setError('')
    setRows((old) => old.map((row, at) => (at === index ? { ...row, ...part } : row)))
  }
  useEffect(() => onWritten(rows !== begun), [rows, begun, onWritten])
  const help = (key: string) => said(found.known.find((known) => known.config_key === key)?.help ?? '')
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await changeConfigs(job.job_name, configChanges(found.results, rows))
      answer(true, t('config.kept', { job: job.job_name }))
      onClose()
    } catch (failure) {
      setError(failure instanceof ApiError ? said(failure.problems[0]?.message ?? failure.message) : (failure as Error).message)
      setBusy(false)
    }
  }
  return (
    <form className="pw-form-column" onSubmit={(event) => void save(event)}>
      <p className="pw-help">{t('config.help')}</p>
      {rows.length === 0 && <p className="pw-12 pw-3">{t('config.none')}</p>}
      {rows.map((row, index) => (
        <div key={index}>
          <div className="pw-config-row">
            <Autocomplete size="xs" aria-label={t('config.key')} placeholder={t('config.key')} value={row.config_key} data={found.known.map((known) => known.config_key)} classNames={{ input: 'pw-mono' }} onChange={(value) => change(index, { config_key: value })} />
            <TextInput aria-label={t('config.value')} placeholder={t('config.value')} value={row.config_value} classNames={{ input: 'pw-mono' }} onChange={(event) => change(index, { config_value: event.currentTarget.value })} />
            <ActionIcon aria-label={t('config.remove', { key: row.config_key })} onClick={() => setRows((old) => old.filter((_, at) => at !== index))}>
              <IconTrash size={14} />
            </ActionIcon>
          </div>
          {help(row.config_key) && <p className="pw-help">{help(row.config_key)}</p>}
        </div>
      ))}
      <div>
        <Button leftSection={<IconPlus size={14} />} onClick={() => setRows((old) => [...old, { config_key: '', config_value: '', description: '' }])}>
          {t('config.add')}
        </Button>
      </div>
      {error && <p className="pw-bad pw-12" role="alert">{error}</p>}
      <div className="pw-form-acts">
        <Button onClick={onClose}>{t('shared:cancel')}</Button>
        <Button type="submit" variant="filled" loading={busy}>
          {t('config.save')}
        </Button>
      </div>
    </form>
  )
}

/** Settings laid over the job's document: key, value, and what the known keys mean. */
export function ConfigDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { t } = useTranslation('jobs')
  const [isWritten, setWritten] = useState(false)
  const found = useQuery({ queryKey: ['configs', job.job_name], queryFn: () => readConfigs(job.job_name), gcTime: 0, refetchOnWindowFocus: false })
  return (
    <Modal opened onClose={onClose} {...whileWritten(isWritten)} title={t('config.title', { job: job.title || job.job_name })} size={560}>
      {found.error && <Failure error={found.error} what={t('config.act')} retry={() => void found.refetch()} />}
      {found.isPending && <SkeletonBar width={240} />}
      {found.data && <ConfigForm job={job} found={found.data} onClose={onClose} onWritten={setWritten} />}
    </Modal>
  )
}
