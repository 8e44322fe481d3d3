import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { request } from '../../api/request'
import type { Attention } from '../../api/types'
import { DataTable, type Column } from '../../shared/data-table'
import { ExecutionBadge } from '../../shared/execution-badge'
import { RelativeTime } from '../../shared/relative-time'
import { SectionHead } from '../../shared/section-head'
import { StateBadge } from '../../shared/state-badge'
import { useStateWord } from '../../shared/state-word'
import { useAct } from '../../shared/use-act'
import { useStart } from '../../shared/use-start'

const at = (one: Attention) => `/executions/${one.execution.execution_id}${one.node_id ? `?node=${encodeURIComponent(one.node_id)}` : ''}`

function Acts({ one }: { one: Attention }) {
  const { t } = useTranslation('home')
  const navigate = useNavigate()
  const [busy, act] = useAct()
  const [starting, start] = useStart()
  const { execution } = one
  const checkpoint = () => act('checkpoint', { run: () => request('POST', `/api/executions/${execution.execution_id}/checkpoint`, {}), done: () => t('attention.checkpointAsked', { job: execution.job_name }) })
  return (
    <span className="pw-line pw-end">
      {one.kind === 'FAILED' && (
        <Button loading={starting} onClick={() => void start(execution.job_name)}>
          {t('attention.retry')}
        </Button>
      )}
      {one.kind === 'NO_CHECKPOINT' && (
        <Button loading={busy !== null} onClick={() => void checkpoint()}>
          {t('attention.checkpoint')}
        </Button>
      )}
      {(one.kind === 'UNCONFIRMED' || one.kind === 'RETRYING') && <Button onClick={() => void navigate(`/executions/${execution.execution_id}?tab=timeline`)}>{t('attention.events')}</Button>}
      <Tooltip label={one.node_id ? t('attention.openNode') : t('attention.open')}>
        <ActionIcon aria-label={one.node_id ? t('attention.openNode') : t('attention.open')} onClick={() => void navigate(at(one))}>
          <IconArrowRight size={14} />
        </ActionIcon>
      </Tooltip>
    </span>
  )
}

/** What a person should look at: state, job, node, first error line, since when, and the way out. */
/** The server lists no more than these, the worst first. */
const MOST_SHOWN = 20

export function AttentionTable({ attention }: { attention: readonly Attention[] }) {
  const { t } = useTranslation('home')
  const navigate = useNavigate()
  const said = useStateWord()
  const columns = useMemo<Column<Attention>[]>(
    () => [
      { key: 'state', title: t('attention.state'), width: 152, cell: (one) => (one.kind === 'UNCONFIRMED' ? <StateBadge state="stale" word={said('UNCONFIRMED')} /> : <ExecutionBadge execution={one.execution} />) },
      {
        key: 'job',
        title: t('attention.job'),
        width: 264,
        cell: (one) => (
          <>
            <div className="pw-cut pw-home-name" title={one.execution.job_title}>
              {one.execution.job_title}
            </div>
            <div className="pw-mono-11 pw-3 pw-cut">{one.execution.job_name}</div>
          </>
        ),
      },
      { key: 'node', title: t('attention.node'), width: 150, cell: (one) => <span title={one.node_id}>{one.node_name || '–'}</span> },
      {
        key: 'error',
        title: t('attention.error'),
        cell: (one) => (
          <span className={`pw-mono-11 pw-lines-2 ${one.kind === 'FAILED' ? 'pw-bad' : one.kind === 'RETRYING' ? 'pw-2' : 'pw-warn'}`} title={one.first_error_line}>
            {one.first_error_line || t(`attention.words.${one.kind}`)}
          </span>
        ),
      },
      {
        key: 'since',
        title: t('attention.since'),
        width: 118,
        numeric: true,
        cell: (one) => (
          <>
            <div>
              <RelativeTime time={one.since} bare />
            </div>
            <div className="pw-11 pw-3">{t('attention.attempt', { attempt: one.execution.attempt })}</div>
          </>
        ),
      },
      { key: 'acts', title: '', width: 176, numeric: true, cell: (one) => <Acts one={one} /> },
    ],
    [t, said],
  )
  return (
    <section className="pw-home-attention">
      <SectionHead title={t('attention.title')} count={attention.length < MOST_SHOWN ? attention.length : `${MOST_SHOWN}+`} />
      <div className="pw-table-wrap">
        <DataTable label={t('attention.title')} columns={columns} rows={attention} keyOf={(one) => `${one.kind}${one.execution.execution_id}`} twoLines onRow={(one) => void navigate(at(one))} />
      </div>
    </section>
  )
}
