import { Button } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Connection } from '../../api/types'
import { Failure } from '../../shared/failure'
import { useHeardConnection } from '../../shared/overview'
import { RelativeTime } from '../../shared/relative-time'
import { StateGlyph } from '../../shared/state-glyph'
import { testConnection } from './connection-requests'

/** Tries the connection step by step and says where it stops. */
export function TestPanel({ connection, onTested }: { connection: Connection; onTested: () => void }) {
  const { t } = useTranslation('connections')
  const found = useHeardConnection(connection)
  const test = useMutation({ mutationFn: () => testConnection(connection.id), onSettled: onTested })
  return (
    <section className="pw-test">
      <div className="pw-line">
        <Button loading={test.isPending} leftSection={<IconPlugConnected size={14} />} onClick={() => test.mutate()}>
          {t('test.act')}
        </Button>
        {!test.data && found.test_time && (
          <span className="pw-line pw-12 pw-2">
            <StateGlyph state={found.test_ok ? 'completed' : 'failed'} />
            <span>
              {found.test_ok ? t('health.works') : t('health.fails', { step: found.test_step || t('health.test') })} <RelativeTime time={found.test_time} />
            </span>
          </span>
        )}
      </div>
      {!test.data && found.test_ok === false && (
        <p className="pw-12 pw-bad pw-wrap">
          {found.test_message}
          {found.failing_since && found.failing_since !== found.test_time && (
            <span className="pw-3">
              {' '}
              {t('health.since')} <RelativeTime time={found.failing_since} />
            </span>
          )}
        </p>
      )}
      {test.error && <Failure error={test.error} what={t('test.act')} />}
      {test.data && (
        <ol className="pw-steps">
          {test.data.steps.map((step) => (
            <li key={step.name}>
              <StateGlyph state={step.ok ? 'completed' : 'failed'} />
              <div className="pw-grow">
                <div>{step.name}</div>
                {step.message && <div className={`pw-11 pw-wrap ${step.ok ? 'pw-3' : 'pw-bad'}`}>{step.message}</div>}
              </div>
              <span className="pw-mono-11 pw-3">{step.milliseconds} ms</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
