import { Button } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Connection } from '../../api/types'
import { Failure } from '../../shared/failure'
import { RelativeTime } from '../../shared/relative-time'
import { StateGlyph } from '../../shared/state-glyph'
import { testConnection } from './connection-requests'

/** Tries the connection step by step and says where it stops. */
export function TestPanel({ connection, onTested }: { connection: Connection; onTested: () => void }) {
  const { t } = useTranslation('connections')
  const test = useMutation({ mutationFn: () => testConnection(connection.id), onSettled: onTested })
  return (
    <section className="pw-test">
      <div className="pw-line">
        <Button loading={test.isPending} leftSection={<IconPlugConnected size={14} />} onClick={() => test.mutate()}>
          {t('test.act')}
        </Button>
        {!test.data && connection.test_time && (
          <span className="pw-line pw-12 pw-2">
            <StateGlyph state={connection.test_ok ? 'completed' : 'failed'} />
            {t(connection.test_ok ? 'test.worked' : 'test.failed')} <RelativeTime time={connection.test_time} />
          </span>
        )}
      </div>
      {!test.data && !connection.test_ok && connection.test_message && <p className="pw-12 pw-bad pw-wrap">{connection.test_message}</p>}
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
