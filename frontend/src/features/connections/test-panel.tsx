import { Button } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { Connection, ConnectionTest } from '../../api/types'
import { useStepName } from '../../shared/connection-step'
import { Failure } from '../../shared/failure'
import { intoSight } from '../../shared/into-sight'
import { useHeardConnection } from '../../shared/overview'
import { RelativeTime } from '../../shared/relative-time'
import { StateGlyph } from '../../shared/state-glyph'

interface Props {
  /** What is tried: another stamp stands for other settings, of which nothing is known yet. */
  stamp: string
  /** The settings that are tried are not those that are kept. */
  changed: boolean
  test: () => Promise<ConnectionTest>
  onTested: () => void
  /** Settings that can be kept: what was said of earlier ones holds no more. */
  onTaken: () => void
  /** Settings that could not be kept either: told on their fields. */
  onRefused: (error: ApiError) => void
}

/** Tries what the form says, step by step, and says where it stops. */
export function TestPanel({ connection, ...props }: Props & { connection: Connection | null }) {
  return connection ? <KeptTest connection={connection} {...props} /> : <Test {...props} health={null} trouble={null} />
}

function KeptTest({ connection, ...props }: Props & { connection: Connection }) {
  const { t } = useTranslation('connections')
  const stepName = useStepName()
  const found = useHeardConnection(connection)
  const health = found.test_time && (
    <span className="pw-line pw-12 pw-2">
      <StateGlyph state={found.test_ok ? 'completed' : 'failed'} />
      <span>
        {found.test_ok ? t('health.works') : t('health.fails', { step: stepName(found.test_step) || t('health.test') })} <RelativeTime time={found.test_time} />
      </span>
    </span>
  )
  const trouble = found.test_ok === false && (
    <p className="pw-12 pw-bad pw-wrap">
      {said(found.test_message)}
      {found.failing_since && found.failing_since !== found.test_time && (
        <span className="pw-3">
          {' '}
          {t('health.since')} <RelativeTime time={found.failing_since} />
        </span>
      )}
    </p>
  )
  return <Test {...props} health={health} trouble={trouble} />
}

function Test({ stamp, changed, test, onTested, onTaken, onRefused, health, trouble }: Props & { health: React.ReactNode; trouble: React.ReactNode }) {
  const { t } = useTranslation('connections')
  const stepName = useStepName()
  const tried = useMutation<ConnectionTest, Error, string>({
    mutationFn: () => test(),
    onSettled: onTested,
    onSuccess: onTaken,
    onError: (error) => error instanceof ApiError && error.problems.length > 0 && onRefused(error),
  })
  const isOfThis = tried.variables === stamp
  const steps = isOfThis ? tried.data?.steps : undefined
  const error = isOfThis && !(tried.error instanceof ApiError && tried.error.problems.length > 0) ? tried.error : null
  return (
    <section className="pw-test">
      <div className="pw-line">
        <Button loading={tried.isPending} leftSection={<IconPlugConnected size={14} />} onClick={() => tried.mutate(stamp)}>
          {t('test.act')}
        </Button>
        {changed ? <span className="pw-12 pw-3">{t(steps ? 'test.notKept' : 'test.asWritten')}</span> : !steps && health}
      </div>
      {!changed && !steps && trouble}
      {error && <Failure error={error} what={t('test.act')} />}
      {steps && (
        // What was found stands at the end of a form that may be longer than its dialog.
        <ol className="pw-steps" key={tried.submittedAt} ref={intoSight}>
          {steps.map((step) => (
            <li key={step.name}>
              <StateGlyph state={step.ok ? 'completed' : 'failed'} />
              <div className="pw-grow">
                <div>{stepName(step.name)}</div>
                {step.message && <div className={`pw-11 pw-wrap ${step.ok ? 'pw-3' : 'pw-bad'}`}>{said(step.message)}</div>}
              </div>
              <span className="pw-mono-11 pw-3">{step.milliseconds} ms</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
