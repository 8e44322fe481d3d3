import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { Execution } from '../../api/types'
import type { DagDocument } from '../../dag/document'
import { DeliveryWords } from '../../shared/delivery-words'
import { duration } from '../../shared/numbers'
import { wholeTime } from '../../shared/times'

const IN_SECONDS: ReadonlySet<string> = new Set(['checkpoint_timeout', 'checkpoint_min_pause'])

const said = (key: string, value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'number' && (key.endsWith('_interval') || IN_SECONDS.has(key))) return duration(value * 1000)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function Facts({ title, facts }: { title: string; facts: readonly (readonly [string, React.ReactNode])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="pw-mono">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Value({ name, value, standard, words }: { name: string; value: unknown; standard: unknown; words: string }) {
  const { t } = useTranslation('executions')
  if (standard === undefined || said(name, standard) === said(name, value)) return said(name, value)
  return (
    <>
      {said(name, value)} <span className="pw-chip pw-chip-warn">{t(words, { value: said(name, standard) })}</span>
    </>
  )
}

/** What this execution runs with, and where that differs from what was published: version, settings, parameters, ids, and what its nodes promise. */
export function ConfigTab({ execution, document, settings }: { execution: Execution; document: DagDocument | undefined; settings: Record<string, unknown> | undefined }) {
  const { t } = useTranslation(['executions', 'shared'])
  const values = (record: Record<string, unknown>, standard: (key: string) => unknown, words: string) =>
    Object.entries(record).map(([key, value]) => [key, <Value key={key} name={key} value={value} standard={standard(key)} words={words} />] as const)
  const declared = (document?.parameters ?? {}) as Record<string, { default?: unknown } | undefined>
  const times = (['create_time', 'start_time', 'end_time'] as const).map((key) => [t(`config.${key}`), execution[key] ? wholeTime(execution[key]) : '–'] as const)
  return (
    <div className="pw-config">
      <Facts
        title={t('config.execution')}
        facts={[
          [t('config.id'), execution.execution_id],
          [t('config.job'), <Link key="job" className="pw-link" to={`/jobs/${encodeURIComponent(execution.job_name)}`}>{execution.job_name}</Link>],
          [t('config.version'), `v${execution.version}`],
          [t('config.generation'), execution.generation],
          [t('config.trigger'), t(`shared:trigger.${execution.triggered_by}`)],
          [t('config.by'), execution.created_by || '–'],
          [t('config.restored'), execution.restored_from_checkpoint_id ?? '–'],
          ...times,
        ]}
      />
      <Facts title={t('config.resolved')} facts={values(execution.resolved, (key) => settings?.[key], 'config.published')} />
      <Facts title={t('config.parameters')} facts={Object.keys(execution.parameters).length > 0 ? values(execution.parameters, (key) => declared[key]?.default ?? undefined, 'config.default') : [[t('config.noParameters'), '']]} />
      {execution.delivery && <DeliveryWords delivery={execution.delivery} />}
      {document && (
        <details>
          <summary>{t('config.document')}</summary>
          <pre className="pw-json-row">{JSON.stringify(document, null, 2)}</pre>
        </details>
      )}
    </div>
  )
}
