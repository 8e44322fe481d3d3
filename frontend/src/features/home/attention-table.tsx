import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { request } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { Attention } from '../../api/types'
import { useMay } from '../../api/use-may'
import { familyOf, type NodeType } from '../../dag/document'
import { lessName } from '../../dag/less-name'
import { DataTable, type Column } from '../../shared/data-table'
import { ExecutionBadge } from '../../shared/execution-badge'
import { tryOf } from '../../shared/execution-state'
import { NoCheckpoint } from '../../shared/no-checkpoint'
import { RelativeTime } from '../../shared/relative-time'
import { SectionHead } from '../../shared/section-head'
import { StateBadge } from '../../shared/state-badge'
import { useStateWord } from '../../shared/state-word'
import { useAct } from '../../shared/use-act'
import { useStart } from '../../shared/use-start'
import { FamilyTile } from '../canvas/family-tile'

const at = (one: Attention) => `/executions/${one.execution.execution_id}${one.node_id ? `?node=${encodeURIComponent(one.node_id)}` : ''}`

function Acts({ one }: { one: Attention }) {
  const { t } = useTranslation('home')
  const navigate = useNavigate()
  const [busy, act] = useAct()
  const [starting, start] = useStart()
  const { execution } = one
  const operates = useMay()('OPERATOR', execution.project)
  const checkpoint = () => act('checkpoint', { run: () => request('POST', `/api/executions/${execution.execution_id}/checkpoint`, {}), done: () => t('attention.checkpointAsked', { job: execution.job_name }) })
  return (
    <span className="pw-line pw-end">
      {operates && one.kind === 'FAILED' && (
        <Button loading={starting} onClick={() => void start(execution.job_name)}>
          {t('attention.retry')}
        </Button>
      )}
      {operates && one.kind === 'NO_CHECKPOINT' && (
        <Button loading={busy !== null} onClick={() => void checkpoint()}>
          {t('attention.checkpoint')}
        </Button>
      )}
      {one.kind === 'DAMAGED' && <Button onClick={() => void navigate(`/executions/${execution.execution_id}?tab=checkpoints`)}>{t('attention.checkpoints')}</Button>}
      {(one.kind === 'UNCONFIRMED' || one.kind === 'RETRYING' || one.kind === 'WAITING') && <Button onClick={() => void navigate(`/executions/${execution.execution_id}?tab=timeline`)}>{t('attention.events')}</Button>}
      <Tooltip label={one.node_id ? t('attention.openNode') : t('attention.open')}>
        <ActionIcon aria-label={one.node_id ? t('attention.openNode') : t('attention.open')} onClick={() => void navigate(at(one))}>
          <IconArrowRight size={14} />
        </ActionIcon>
      </Tooltip>
    </span>
  )
}

function FailedNode({ one }: { one: Attention }) {
  const types = useQuery({ queryKey: ['node-types'], queryFn: () => request<{ results: NodeType[] }>('GET', '/api/node-types'), staleTime: 600_000 })
  if (!one.node_name) return <>–</>
  const icon = types.data?.results.find((type) => type.type === one.node_type)?.icon
  return (
    <span className="pw-line" title={one.node_id}>
      {one.node_type && <FamilyTile family={familyOf(one.node_type)} icon={icon ?? 'puzzle'} />}
      <span className="pw-cut">{one.node_name}</span>
    </span>
  )
}

/** What a person should look at, the worst first: state, job, node, first error line, since when, and the way out. */
export function AttentionTable({ attention, total }: { attention: readonly Attention[]; total: number }) {
  const { t } = useTranslation('home')
  const navigate = useNavigate()
  const stateWord = useStateWord()
  const columns = useMemo<Column<Attention>[]>(
    () => [
      { key: 'state', title: t('attention.state'), width: 152, cell: (one) => (one.kind === 'UNCONFIRMED' ? <StateBadge state="stale" word={stateWord('UNCONFIRMED')} /> : <ExecutionBadge execution={one.execution} />) },
      {
        key: 'job',
        title: t('attention.job'),
        width: 216,
        cell: (one) => (
          <>
            <div className="pw-cut pw-home-name" title={one.execution.job_title}>
              {one.execution.job_title}
            </div>
            {one.execution.job_title !== one.execution.job_name && <div className="pw-mono-11 pw-3 pw-cut">{one.execution.job_name}</div>}
          </>
        ),
      },
      { key: 'node', title: t('attention.node'), width: 160, cell: (one) => <FailedNode one={one} /> },
      {
        key: 'error',
        title: t('attention.error'),
        cell: (one) => (
          <span className={`pw-mono-11 pw-lines-2 ${one.kind === 'FAILED' ? 'pw-bad' : one.kind === 'RETRYING' ? 'pw-2' : 'pw-warn'}`} title={said(one.first_error_line)}>
            {one.kind === 'NO_CHECKPOINT' ? <NoCheckpoint since={one.since} running /> : said(lessName(one.first_error_line, one.node_name)) || t(`attention.words.${one.kind}`, { what: said(one.execution.waiting_for) })}
          </span>
        ),
      },
      {
        key: 'since',
        title: t('attention.since'),
        width: 100,
        numeric: true,
        cell: (one) => (
          <>
            <div>
              <RelativeTime time={one.since} bare />
            </div>
            <div className="pw-11 pw-3">{t('attention.attempt', { attempt: tryOf(one.execution.first_attempt, one.execution.attempt) })}</div>
          </>
        ),
      },
      { key: 'acts', title: '', width: 176, numeric: true, cell: (one) => <Acts one={one} /> },
    ],
    [t, stateWord],
  )
  return (
    <section className="pw-home-attention">
      <SectionHead title={t('attention.title')} count={total} note={total > attention.length ? t('attention.worst', { count: attention.length }) : ''} />
      <div className="pw-table-wrap">
        <DataTable label={t('attention.title')} columns={columns} rows={attention} keyOf={(one) => `${one.kind}${one.execution.execution_id}`} twoLines onRow={(one) => void navigate(at(one))} />
      </div>
    </section>
  )
}
