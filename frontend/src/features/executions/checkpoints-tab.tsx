import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { usePagedList } from '../../api/pages'
import type { Checkpoint, Execution } from '../../api/types'
import { checkpointColumns, largestOf } from '../../shared/checkpoints/checkpoint-columns'
import { CheckpointDetail } from '../../shared/checkpoints/checkpoint-detail'
import '../../shared/checkpoints/i18n'
import { DataTable } from '../../shared/data-table'
import { isFinal } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { MoreRows } from '../../shared/more-rows'
import { Notice } from '../../shared/notice'
import { useUrlState } from '../../shared/url-state'

/** This execution's checkpoints; the live ones stand over what was read. */
export function CheckpointsTab({ execution, live }: { execution: Execution; live: readonly Checkpoint[] }) {
  const { t } = useTranslation('checkpoints')
  const [chosen, setChosen] = useUrlState('checkpoint')
  const list = usePagedList<Checkpoint>(['checkpoints-of', execution.execution_id], `/api/executions/${execution.execution_id}/checkpoints`)
  const rows = useMemo(() => {
    if (!list.rows && live.length === 0) return undefined
    const heard = new Map(live.map((one) => [one.id, one]))
    const read = (list.rows ?? []).filter((one) => !heard.has(one.id))
    return [...live, ...read].sort((one, other) => other.checkpoint_id - one.checkpoint_id)
  }, [list.rows, live])
  const selected = rows?.find((one) => String(one.id) === chosen)
  const beside = selected !== undefined
  const columns = useMemo(() => checkpointColumns(t, { largest: largestOf(rows ?? []), beside }), [t, rows, beside])
  if (list.error && !rows) return <Failure error={list.error} what={t('title')} retry={list.refetch} />
  if (rows?.length === 0) return <Notice title={t(isFinal(execution.status) ? 'noneTaken' : 'noneOfExecution')}>{t(isFinal(execution.status) ? 'noneTakenHelp' : 'noneOfExecutionHelp')}</Notice>
  return (
    <div className="pw-with-drawer">
      <div className="pw-table-wrap pw-grow">
        <DataTable label={t('title')} columns={columns} rows={rows} keyOf={(one) => one.id} loading={list.loading} selected={selected?.id ?? null} onRow={(one) => setChosen(String(one.id) === chosen ? '' : String(one.id))} />
        <MoreRows list={list} />
      </div>
      {selected && <CheckpointDetail checkpoint={selected} onClose={() => setChosen('')} onChange={list.refetch} />}
    </div>
  )
}
