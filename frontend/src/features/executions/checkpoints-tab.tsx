import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { usePagedList } from '../../api/pages'
import type { Checkpoint, CheckpointPoint, Execution } from '../../api/types'
import { checkpointColumns, largestOf } from '../../shared/checkpoints/checkpoint-columns'
import { CheckpointDetail } from '../../shared/checkpoints/checkpoint-detail'
import { readCheckpoint, readHistory } from '../../shared/checkpoints/checkpoint-requests'
import '../../shared/checkpoints/i18n'
import { DataTable } from '../../shared/data-table'
import { isActive, isFinal } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { MoreRows } from '../../shared/more-rows'
import { Notice } from '../../shared/notice'
import { useNoHole } from '../../shared/use-no-hole'
import { useUrlState } from '../../shared/url-state'
import { CheckpointCharts } from './checkpoint-charts'

const CompareDialog = lazy(() => import('../../shared/checkpoints/compare-dialog'))

const HISTORY_MS = 15_000
const NO_POINTS: readonly CheckpointPoint[] = []

function useHistory(execution: Execution) {
  return useQuery({ queryKey: ['checkpoint-history', execution.execution_id, isActive(execution.status)], queryFn: () => readHistory(execution.execution_id), refetchInterval: isActive(execution.status) ? HISTORY_MS : false, placeholderData: (before) => before }).data
}

/** The chosen one where it is not among the rows that were read: a link may lead to any. */
function useUnlisted(execution: Execution, chosen: string, enabled: boolean): Checkpoint | undefined {
  const { data } = useQuery({ queryKey: ['checkpoint', 'unlisted', chosen], queryFn: () => readCheckpoint(Number(chosen)), enabled: enabled && /^\d+$/.test(chosen), retry: false })
  return enabled && data?.execution_id === execution.execution_id ? data : undefined
}

/** The whole one before this, or else behind it: what one would compare it with. */
const besideOf = (whole: readonly CheckpointPoint[], one: Checkpoint | undefined) => (one ? (whole.findLast((point) => point.checkpoint_id < one.checkpoint_id) ?? whole.find((point) => point.checkpoint_id > one.checkpoint_id)) : undefined)

/** This execution's checkpoints: how they went over time, and each of them; the live ones stand over what was read. */
export function CheckpointsTab({ execution, live }: { execution: Execution; live: readonly Checkpoint[] }) {
  const { t } = useTranslation('checkpoints')
  const [chosen, setChosen] = useUrlState('checkpoint')
  const [compared, setCompared] = useUrlState('compare')
  const list = usePagedList<Checkpoint>(['checkpoints-of', execution.execution_id], `/api/executions/${execution.execution_id}/checkpoints`)
  useNoHole(live.map((one) => one.checkpoint_id), list.rows?.map((one) => one.checkpoint_id), list.refetch)
  const history = useHistory(execution)
  const whole = useMemo(() => history?.results.filter((one) => one.status !== 'FAILED') ?? NO_POINTS, [history])
  const rows = useMemo(() => {
    if (!list.rows && live.length === 0) return undefined
    const heard = new Map(live.map((one) => [one.id, one]))
    const read = (list.rows ?? []).filter((one) => !heard.has(one.id))
    return [...live, ...read].sort((one, other) => other.checkpoint_id - one.checkpoint_id)
  }, [list.rows, live])
  const listed = rows?.find((one) => String(one.id) === chosen)
  const selected = useUnlisted(execution, chosen, rows !== undefined && listed === undefined) ?? listed
  const beside = selected !== undefined
  const other = selected?.status === 'COMPLETED' || selected?.status === 'EXPIRED' ? besideOf(whole, selected) : undefined
  const columns = useMemo(() => checkpointColumns(t, { largest: largestOf(rows ?? []), beside }), [t, rows, beside])
  if (list.error && !rows) return <Failure error={list.error} what={t('title')} retry={list.refetch} />
  if (rows?.length === 0) return <Notice title={t(isFinal(execution.status) ? 'noneTaken' : 'noneOfExecution')}>{t(isFinal(execution.status) ? 'noneTakenHelp' : 'noneOfExecutionHelp')}</Notice>
  return (
    <div className="pw-with-drawer">
      <div className="pw-table-wrap pw-grow">
        {history && <CheckpointCharts history={history} />}
        <DataTable label={t('title')} columns={columns} rows={rows} keyOf={(one) => one.id} loading={list.loading} selected={selected?.id ?? null} onRow={(one) => setChosen(String(one.id) === chosen ? '' : String(one.id))} />
        <MoreRows list={list} />
      </div>
      {selected && <CheckpointDetail checkpoint={selected} onClose={() => setChosen('')} onChange={list.refetch} ofPage onCompare={other && (() => setCompared(String(other.id)))} />}
      {compared && chosen && (
        <Suspense>
          <CompareDialog first={Number(compared)} second={Number(chosen)} points={whole} onChoose={(first, second) => { setCompared(String(first)); setChosen(String(second)) }} onClose={() => setCompared('')} />
        </Suspense>
      )}
    </div>
  )
}
