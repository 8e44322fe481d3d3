import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { request } from '../../api/request'
import type { Execution, Expectation, ExpectationList } from '../../api/types'
import { DataTable, type Column } from '../../shared/data-table'
import { isFinal } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { Notice } from '../../shared/notice'
import { count, percent, score } from '../../shared/numbers'

/** How often rows broke which rule, in all batches so far. */
export function ExpectationsTab({ execution, nodeId }: { execution: Execution; nodeId: string }) {
  const { t } = useTranslation('executions')
  const over = isFinal(execution.status)
  const asked = useQuery({
    queryKey: ['expectations', execution.execution_id, over],
    queryFn: () => request<ExpectationList>('GET', `/api/executions/${encodeURIComponent(execution.execution_id)}/expectations`),
    refetchInterval: over ? false : 3_000,
    placeholderData: keepPreviousData,
  })
  const columns: Column<Expectation>[] = [
    { key: 'node', title: t('expectations.node'), width: 180, cell: (row) => <span title={row.node_id}>{row.node_name}</span> },
    { key: 'rule', title: t('expectations.rule'), cell: (row) => <span title={row.rule}>{row.rule}</span> },
    { key: 'action', title: t('expectations.action'), width: 140, cell: (row) => t(`expectations.does.${row.action}`) },
    { key: 'checked', title: t('expectations.checked'), width: 120, numeric: true, cell: (row) => count(row.checked) },
    { key: 'broken', title: t('expectations.broken'), width: 120, numeric: true, cell: (row) => <span className={row.ended || (row.broken > 0 && row.action !== 'warn') ? 'pw-bad' : undefined}>{row.ended ? t('expectations.ended') : count(row.broken)}</span> },
    { key: 'share', title: t('expectations.share'), width: 90, numeric: true, cell: (row) => percent(row.broken, row.checked) },
  ]
  if (asked.error && !asked.data) return <Failure error={asked.error} what={t('tab.expectations')} retry={() => void asked.refetch()} />
  const isAsked = (row: { node_id: string }) => !nodeId || row.node_id === nodeId
  const rows = asked.data?.results.filter(isAsked)
  if (rows?.length === 0) return <Notice title={t('expectations.none')}>{t('expectations.noneHelp')}</Notice>
  return (
    <>
      {asked.data?.scores.filter(isAsked).map((one) => one.score !== null && (
        <p key={one.node_id} className="pw-12 pw-expectations-score" title={t('expectations.scoreHelp')}>
          {t('expectations.score', { node: one.node_name, score: score(one.score) })}
        </p>
      ))}
      <DataTable label={t('tab.expectations')} columns={columns} rows={rows} keyOf={(row) => `${row.node_id} ${row.rule}`} loading={asked.isPending} />
    </>
  )
}
