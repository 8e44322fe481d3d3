import { IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usePagedList, withQuery } from '../../api/pages'
import { said } from '../../api/sentences/said'
import type { Execution, RejectedRow } from '../../api/types'
import { DataTable, type Column } from '../../shared/data-table'
import { isFinal } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { prettyJson } from '../../shared/json-text'
import { MoreRows } from '../../shared/more-rows'
import { Notice } from '../../shared/notice'
import { count } from '../../shared/numbers'
import { RelativeTime } from '../../shared/relative-time'

/** Rows that nodes refused: which, why, when; opened, one shows all of its reason and of its row. */
export function RejectedTab({ execution, nodeId, nameOf }: { execution: Execution; nodeId: string; nameOf: (nodeId: string) => string }) {
  const { t } = useTranslation('executions')
  const [opened, setOpened] = useState<number | null>(null)
  const isCounted = execution.failed_records > 0
  // The first that is counted has the list asked again: an empty one would be wrong until its next turn.
  const list = usePagedList<RejectedRow>(['rejected', execution.execution_id, isCounted], withQuery(`/api/executions/${execution.execution_id}/rejected-rows`, { node_id: nodeId }), { refetchInterval: 10_000 })
  const turn = (row: RejectedRow) => setOpened((old) => (old === row.id ? null : row.id))
  const columns: Column<RejectedRow>[] = [
    {
      key: 'open',
      title: <span className="pw-hidden">{t('rejected.show')}</span>,
      width: 44,
      cell: (row) => (
        <button type="button" className="pw-row-turn" aria-expanded={opened === row.id} aria-label={t(opened === row.id ? 'rejected.hide' : 'rejected.show')} onClick={() => turn(row)}>
          <IconChevronRight size={14} />
        </button>
      ),
    },
    { key: 'when', title: t('rejected.when'), width: 92, cell: (row) => <RelativeTime time={row.create_time} /> },
    { key: 'node', title: t('rejected.node'), width: 128, cell: (row) => <span title={nameOf(row.node_id)}>{nameOf(row.node_id)}</span> },
    { key: 'batch', title: t('rejected.batch'), width: 64, numeric: true, cell: (row) => count(row.batch_id) },
    { key: 'reason', title: t('rejected.reason'), cell: (row) => <span className="pw-bad pw-12" title={said(row.reason)}>{said(row.reason)}</span> },
    { key: 'row', title: t('rejected.row'), cell: (row) => <span className="pw-mono-11" title={row.row}>{row.row}</span> },
  ]
  const whole = (row: RejectedRow) =>
    opened === row.id && (
      <>
        <p className="pw-bad pw-12 pw-wrap">{said(row.reason)}</p>
        <pre className="pw-json-row">{prettyJson(row.row)}</pre>
      </>
    )
  if (list.error && !list.rows) return <Failure error={list.error} what={t('tab.rejected')} retry={list.refetch} />
  const waits = list.rows?.length === 0 && list.stale
  const isEmpty = list.rows?.length === 0 && !list.stale
  if (isEmpty && isCounted && nodeId) return <Notice title={t('rejected.noneOfNode')}>{t('rejected.noneOfNodeHelp', { name: nameOf(nodeId) })}</Notice>
  if (isEmpty && isCounted) return <Notice title={t('rejected.noneKept')}>{t('rejected.counted', { count: execution.failed_records })}</Notice>
  const noneHelp = execution.status === 'FAILED' ? 'noneBefore' : isFinal(execution.status) ? 'noneEver' : 'noneHelp'
  if (isEmpty) return <Notice title={t('rejected.none')}>{t(`rejected.${noneHelp}`)}</Notice>
  return (
    <>
      <DataTable label={t('tab.rejected')} columns={columns} rows={waits ? undefined : list.rows} keyOf={(row) => row.id} loading={list.loading || waits} onRow={turn} below={whole} />
      <MoreRows list={list} />
    </>
  )
}
