import { useTranslation } from 'react-i18next'
import { usePagedList } from '../../api/pages'
import type { Execution, ExecutionEvent } from '../../api/types'
import { Failure } from '../../shared/failure'
import { MoreRows } from '../../shared/more-rows'
import { useNoHole } from '../../shared/use-no-hole'
import { EventList } from './event-list'

interface Props {
  execution: Execution
  live: readonly ExecutionEvent[]
  nodeId: string
  nameOf: (nodeId: string) => string
}

/** Every event, newest first: the live ones, then the pages of older ones. */
export function TimelineTab({ execution, live, nodeId, nameOf }: Props) {
  const { t } = useTranslation('executions')
  const list = usePagedList<ExecutionEvent>(['events', execution.execution_id], `/api/executions/${execution.execution_id}/events`)
  useNoHole(live.map((event) => event.seq), list.rows?.map((event) => event.seq), list.refetch)
  if (list.error && live.length === 0) return <Failure error={list.error} what={t('tab.timeline')} retry={list.refetch} />
  const oldest = live.at(-1)?.seq ?? Infinity
  const events = [...live, ...(list.rows ?? []).filter((event) => event.seq < oldest)].filter((event) => !nodeId || !event.node_id || event.node_id === nodeId)
  return (
    <>
      <EventList events={events} first={execution.first_attempt} nameOf={nameOf} />
      <MoreRows list={list} />
    </>
  )
}
