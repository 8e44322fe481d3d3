import { ActionIcon, Tooltip } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { said } from '../../api/sentences/said'
import type { ConnectionHealth } from '../../api/types'
import { useStepName } from '../../shared/connection-step'
import { DataTable, type Column } from '../../shared/data-table'
import { RelativeTime } from '../../shared/relative-time'
import { SectionHead } from '../../shared/section-head'
import { StateBadge } from '../../shared/state-badge'

const at = (one: ConnectionHealth) => `/connections?connection=${one.id}`

/** Connections that jobs use and that failed when they were last tried, the longest first. */
export function FailingConnections({ connections, total }: { connections: readonly ConnectionHealth[]; total: number }) {
  const { t } = useTranslation('home')
  const navigate = useNavigate()
  const stepName = useStepName()
  const columns = useMemo<Column<ConnectionHealth>[]>(
    () => [
      { key: 'state', title: t('attention.state'), width: 152, cell: () => <StateBadge state="failed" word={t('connections.failing')} /> },
      {
        key: 'name',
        title: t('connections.name'),
        width: 216,
        cell: (one) => (
          <>
            <div className="pw-cut pw-home-name" title={one.name}>
              {one.name}
            </div>
            <div className="pw-11 pw-3 pw-cut">{t('connections.used', { count: one.jobs_using })}</div>
          </>
        ),
      },
      { key: 'step', title: t('connections.step'), width: 160, cell: (one) => stepName(one.test_step) || '–' },
      {
        key: 'message',
        title: t('connections.message'),
        cell: (one) => (
          <span className="pw-mono-11 pw-lines-2 pw-bad" title={said(one.test_message)}>
            {said(one.test_message)}
          </span>
        ),
      },
      {
        key: 'since',
        title: t('attention.since'),
        width: 116,
        numeric: true,
        cell: (one) => (
          <>
            <div>
              <RelativeTime time={one.failing_since ?? one.test_time} bare />
            </div>
            <div className="pw-11 pw-3">
              {t('connections.checked')} <RelativeTime time={one.test_time} />
            </div>
          </>
        ),
      },
      {
        key: 'acts',
        title: '',
        width: 160,
        numeric: true,
        cell: (one) => (
          <span className="pw-line pw-end">
            <Tooltip label={t('connections.open')}>
              <ActionIcon aria-label={t('connections.open')} onClick={() => void navigate(at(one))}>
                <IconArrowRight size={14} />
              </ActionIcon>
            </Tooltip>
          </span>
        ),
      },
    ],
    [t, navigate, stepName],
  )
  return (
    <section className="pw-home-attention">
      <SectionHead title={t('connections.title')} count={total} note={total > connections.length ? t('connections.longest', { count: connections.length }) : ''} />
      <div className="pw-table-wrap">
        <DataTable label={t('connections.title')} columns={columns} rows={connections} keyOf={(one) => one.id} twoLines onRow={(one) => void navigate(at(one))} />
      </div>
    </section>
  )
}
