import { Button, Modal, SegmentedControl, Select, Switch, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { ApiError } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { Job, Schedule, ScheduleTimes } from '../../api/types'
import { Failure } from '../../shared/failure'
import { answer } from '../../shared/answers'
import { SkeletonBar } from '../../shared/skeleton'
import { timeZones } from '../../shared/time-zones'
import { wholeTime } from '../../shared/times'
import { whileWritten } from '../../shared/while-written'
import { readSchedule, readTimes, saveSchedule } from './job-requests'

const EXAMPLES = ['*/15 * * * *', '0 * * * *', '0 6 * * *', '0 6 * * 1-5', '0 3 1 * *']

const MANUAL: Schedule = { schedule_type: 'MANUAL', cron_expression: '', time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC', enabled: true, last_trigger_time: null, next_trigger_time: null, words: '', next_times: [], fires: [], revision: '' }

/** The server answers with nothing where no schedule was ever set. */
const readOrNone = async (name: string): Promise<Schedule> => ((await readSchedule(name)) as Schedule | undefined) ?? MANUAL

const TYPING_MS = 300

/** What the server makes of an expression while it is typed. */
function useTimes(expression: string, zone: string) {
  const [asked] = useDebouncedValue(expression.trim(), TYPING_MS)
  const { data, isPlaceholderData } = useQuery({ queryKey: ['schedule-times', asked, zone], queryFn: () => readTimes(asked, zone), enabled: asked !== '', placeholderData: keepPreviousData, staleTime: 30_000 })
  const problem = data && !isPlaceholderData && asked === expression.trim() ? said(data.problems[0]?.message ?? '') : ''
  return { times: asked === '' || data?.problems.length ? undefined : data, problem: asked === '' ? '' : problem }
}

/** What the expression means, before it is kept: words and the next five times. */
function NextTimes({ schedule, enabled }: { schedule: ScheduleTimes; enabled: boolean }) {
  const { t } = useTranslation('jobs')
  return (
    <div style={{ opacity: enabled ? undefined : 0.5 }}>
      <div className="pw-label">{t('schedule.next')}</div>
      <p className="pw-help">{schedule.words}</p>
      <ol className="pw-times">
        {schedule.next_times.map((time) => (
          <li key={time} className="pw-mono">
            {wholeTime(time)}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** What became of the last times: the execution that was started, or why none was. */
function LastTimes({ fires }: { fires: Schedule['fires'] }) {
  const { t } = useTranslation('jobs')
  if (fires.length === 0) return null
  return (
    <div>
      <div className="pw-label">{t('schedule.last')}</div>
      <ol className="pw-times">
        {fires.map(({ fire_time, outcome, reason, execution_id }) => (
          <li key={fire_time}>
            <span className="pw-mono">{wholeTime(fire_time)}</span>{' '}
            {outcome === 'STARTED' ? (
              <Link className="pw-link" to={`/executions/${execution_id}`}>
                {t('schedule.started')}
              </Link>
            ) : (
              <span className="pw-bad">{t('schedule.skipped')}</span>
            )}
            {reason && <p className="pw-help pw-wrap">{said(reason)}</p>}
          </li>
        ))}
      </ol>
    </div>
  )
}

interface Props {
  job: Job
  onClose: () => void
  onDone: () => void
}

function ScheduleForm({ job, found, onClose, onDone, onWritten }: Props & { found: Schedule; onWritten: (isWritten: boolean) => void }) {
  const { t } = useTranslation(['jobs', 'shared'])
  const [saved, setSaved] = useState(found)
  const [type, setType] = useState(found.schedule_type === 'CRON' ? 'CRON' : 'MANUAL')
  const [cron, setCron] = useState(found.cron_expression)
  const [zone, setZone] = useState(found.time_zone)
  const [enabled, setEnabled] = useState(found.enabled)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const { times, problem } = useTimes(cron, zone)
  const refused = type === 'CRON' && (problem !== '' || cron.trim() === '')
  const changed = type !== saved.schedule_type || (type === 'CRON' && (cron !== saved.cron_expression || zone !== saved.time_zone || enabled !== saved.enabled))
  useEffect(() => onWritten(changed), [changed, onWritten])
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError('')
    try {
      const kept = await saveSchedule(job.job_name, { schedule_type: type as 'CRON' | 'MANUAL', cron_expression: type === 'CRON' ? cron.trim() : '', time_zone: zone, enabled }, saved.revision)
      setSaved(kept)
      onDone()
      answer(true, t('schedule.kept', { job: job.job_name }))
      if (type === 'MANUAL') onClose()
    } catch (failure) {
      setError(failure instanceof ApiError ? said(failure.problems[0]?.message ?? failure.message) : (failure as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="pw-form-column" onSubmit={(event) => void save(event)}>
      <SegmentedControl size="xs" fullWidth value={type} onChange={setType} data={[{ value: 'MANUAL', label: t('schedule.manual') }, { value: 'CRON', label: t('schedule.cron') }]} />
      {type === 'CRON' ? (
        <>
          <TextInput data-autofocus label={t('schedule.expression')} description={t('schedule.expressionHelp')} value={cron} error={error || problem} placeholder="0 6 * * *" classNames={{ input: 'pw-mono' }} inputWrapperOrder={['label', 'input', 'error', 'description']} onChange={(event) => { setCron(event.currentTarget.value); setError('') }} />
          <div className="pw-examples">
            {EXAMPLES.map((example) => (
              <button key={example} type="button" className="pw-chip pw-chip-mono" onClick={() => { setCron(example); setError('') }}>
                {example}
              </button>
            ))}
          </div>
          <Select label={t('schedule.zone')} searchable value={zone} data={timeZones(zone)} onChange={(value) => setZone(value ?? 'UTC')} />
          <Switch label={t('schedule.enabled')} checked={enabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />
          {times && <NextTimes schedule={times} enabled={enabled} />}
          <LastTimes fires={saved.fires} />
        </>
      ) : (
        <p className="pw-help">{t('schedule.manualHelp')}</p>
      )}
      {error && type === 'MANUAL' && <p className="pw-bad pw-12">{error}</p>}
      <div className="pw-form-acts">
        <Button onClick={onClose}>{t(changed ? 'shared:cancel' : 'shared:close')}</Button>
        <Button type="submit" variant="filled" loading={busy} disabled={!changed || refused}>
          {t('schedule.save')}
        </Button>
      </div>
    </form>
  )
}

/** When the job starts by itself: never, or by a CRON expression in a time zone, with the next five times. */
export function ScheduleDialog({ job, onClose, onDone }: Props) {
  const { t } = useTranslation('jobs')
  const [isWritten, setWritten] = useState(false)
  const found = useQuery({ queryKey: ['schedule', job.job_name], queryFn: () => readOrNone(job.job_name), gcTime: 0, refetchOnWindowFocus: false })
  return (
    <Modal opened onClose={onClose} {...whileWritten(isWritten)} title={t('schedule.title', { job: job.title || job.job_name })} size={460}>
      {found.error && <Failure error={found.error} what={t('schedule.act')} retry={() => void found.refetch()} />}
      {found.isPending && <SkeletonBar width={240} />}
      {found.data && <ScheduleForm job={job} found={found.data} onClose={onClose} onDone={onDone} onWritten={setWritten} />}
    </Modal>
  )
}
