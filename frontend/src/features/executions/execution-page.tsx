import { ActionIcon, Tabs, Tooltip } from '@mantine/core'
import { IconLayoutNavbarCollapse, IconLayoutNavbarExpand } from '@tabler/icons-react'
import { lazy, Suspense, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useParams } from 'react-router'
import type { Checkpoint, Execution, ExecutionEvent } from '../../api/types'
import { isFinal, isUnconfirmed } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { FilterMenu } from '../../shared/filter-menu'
import { count } from '../../shared/numbers'
import { SkeletonBar } from '../../shared/skeleton'
import { useNow } from '../../shared/use-now'
import { useUrlState } from '../../shared/url-state'
import { ErrorLine } from './error-line'
import { ExecutionHeader } from './execution-header'
import { ExecutionStrip } from './execution-strip'
import './executions.css'
import './i18n'
import { SidePanel } from './side-panel'
import { useDrawing, useExecution, type Drawing, type Watched } from './use-execution'
import { useKeptCounts } from './use-kept-counts'
import { useNodeCounts } from './use-node-counts'
import { RANGES } from './use-samples'

const RunCanvas = lazy(async () => ({ default: (await import('../canvas/run-canvas')).RunCanvas }))
const CheckpointsTab = lazy(async () => ({ default: (await import('./checkpoints-tab')).CheckpointsTab }))
const ConfigTab = lazy(async () => ({ default: (await import('./config-tab')).ConfigTab }))
const ExpectationsTab = lazy(async () => ({ default: (await import('./expectations-tab')).ExpectationsTab }))
const LogsTab = lazy(async () => ({ default: (await import('./logs-tab')).LogsTab }))
const PrintedTab = lazy(async () => ({ default: (await import('./printed-tab')).PrintedTab }))
const RejectedTab = lazy(async () => ({ default: (await import('./rejected-tab')).RejectedTab }))
const ThroughputTab = lazy(async () => ({ default: (await import('./throughput-tab')).ThroughputTab }))
const TimelineTab = lazy(async () => ({ default: (await import('./timeline-tab')).TimelineTab }))

const NO_EVENTS: readonly ExecutionEvent[] = []
const NO_CHECKPOINTS: readonly Checkpoint[] = []

function Canvas({ execution, watched, drawing, selected, onSelect }: { execution: Execution; watched: Watched; drawing: Drawing; selected: string; onSelect: (nodeId: string) => void }) {
  const now = useNow()
  const still = execution.status !== 'RUNNING'
  const kept = useKeptCounts(execution, watched.live?.metrics ?? null)
  const counts = useNodeCounts(execution.execution_id, drawing.document, watched.live?.metrics ?? null, kept, still)
  const stale = isUnconfirmed(execution, now) || watched.link.kind === 'stale' || watched.link.kind === 'offline'
  return (
    <Suspense fallback={null}>
      <RunCanvas
        document={drawing.document}
        layout={drawing.layout}
        catalogue={drawing.catalogue}
        counts={counts}
        status={execution.status}
        stale={stale}
        errorNodeId={execution.error_node_id}
        selected={selected || null}
        onSelect={(nodeId) => onSelect(nodeId ?? '')}
      />
    </Suspense>
  )
}

function TabBodies({ tab, execution, watched, drawing, nodeId, range, nameOf }: { tab: string; execution: Execution; watched: Watched; drawing: Drawing | undefined; nodeId: string; range: string; nameOf: (nodeId: string) => string }) {
  const events = watched.live?.events ?? NO_EVENTS
  switch (tab) {
    case 'checkpoints':
      return <CheckpointsTab execution={execution} live={watched.live?.checkpoints ?? NO_CHECKPOINTS} />
    case 'timeline':
      return <TimelineTab execution={execution} live={events} nodeId={nodeId} nameOf={nameOf} />
    case 'logs':
      return <LogsTab execution={execution} nodeId={nodeId} nameOf={nameOf} />
    case 'rejected':
      return <RejectedTab execution={execution} nodeId={nodeId} nameOf={nameOf} />
    case 'expectations':
      return <ExpectationsTab execution={execution} nodeId={nodeId} />
    case 'printed':
      return <PrintedTab over={isFinal(execution.status)} printed={watched.live?.printed ?? []} nodeId={nodeId} nameOf={nameOf} />
    case 'config':
      return <ConfigTab execution={execution} document={drawing?.document} settings={drawing?.settings} />
    default:
      return <ThroughputTab execution={execution} live={watched.live} events={events} range={range} nodeId={nodeId} nodeName={nodeId ? nameOf(nodeId) : ''} />
  }
}

const holds = (drawing: Drawing | undefined, type: string) => Object.values(drawing?.document.nodes ?? {}).some((node) => node.type === type)

/** One execution: its canvas with live figures, what it did over time, and what one can ask of it. */
export default function ExecutionPage() {
  const { executionId = '' } = useParams()
  const { t } = useTranslation(['executions', 'shared'])
  const watched = useExecution(executionId)
  const { execution, live, link } = watched
  const { drawing, error } = useDrawing(execution)
  const [tab, setTab] = useUrlState('tab', 'throughput')
  const [range, setRange] = useUrlState('range', '15m')
  const [nodeId, setNode] = useUrlState('node')
  const [, setCheckpoint] = useUrlState('checkpoint')
  const [folded, setFolded] = useUrlState('canvas')
  const nodes = useMemo(() => Object.entries(drawing?.document.nodes ?? {}).map(([value, node]) => ({ value, label: node.name })), [drawing])
  if (watched.error) {
    return (
      <main className="pw-page">
        <Failure page error={watched.error} what={t('one')} retry={watched.retry} way={<Link className="pw-link" to="/executions">{t('allExecutions')}</Link>} />
      </main>
    )
  }
  if (!execution) return <main className="pw-page" aria-busy="true"><div className="pw-head"><SkeletonBar width={320} /></div></main>
  const nameOf = (id: string) => drawing?.document.nodes[id]?.name ?? id
  const tabs = ['throughput', 'checkpoints', 'timeline', 'logs', ...(holds(drawing, 'sink.print') ? ['printed'] : []), ...(holds(drawing, 'flow.expectations') ? ['expectations'] : []), 'rejected', 'config']
  return (
    <main className="pw-page">
      <ExecutionHeader execution={execution} link={link} checkpoints={live?.checkpoints ?? NO_CHECKPOINTS} events={live?.events ?? NO_EVENTS} />
      <ExecutionStrip execution={execution} metrics={live?.metrics ?? null} />
      <ErrorLine execution={execution} nodeName={execution.error_node_id && nameOf(execution.error_node_id)} />
      <div className="pw-execution">
        <div className="pw-execution-main" data-folded={folded === 'off' || undefined}>
          <div className="pw-execution-canvas">
            {drawing && folded !== 'off' && <Canvas execution={execution} watched={watched} drawing={drawing} selected={nodeId} onSelect={setNode} />}
            {error && <Failure error={error} what={t('canvas')} />}
          </div>
          <Tabs value={tab} onChange={(value) => setTab(value ?? 'throughput')} className="pw-execution-tabs">
            <div className="pw-tabs-line">
              <Tabs.List>
                {tabs.map((one) => (
                  <Tabs.Tab key={one} value={one} rightSection={one === 'rejected' && execution.failed_records > 0 ? <span className="pw-count pw-count-bad">{count(execution.failed_records)}</span> : undefined}>
                    {t(`tab.${one}`)}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              <span className="pw-grow" />
              {nodes.length > 0 && <FilterMenu label={t('node')} value={nodeId} onChange={setNode} options={[{ value: '', label: t('shared:all') }, ...nodes]} />}
              {tab === 'throughput' && <FilterMenu label={t('last')} value={range === '15m' ? '' : range} onChange={(value) => setRange(value || '15m')} options={[{ value: '', label: t('range.15m') }, ...Object.keys(RANGES).slice(1).map((value) => ({ value, label: t(`range.${value}`) }))]} />}
              <Tooltip label={t(folded === 'off' ? 'unfold' : 'fold')}>
                <ActionIcon variant="subtle" color="gray" aria-label={t(folded === 'off' ? 'unfold' : 'fold')} onClick={() => setFolded(folded === 'off' ? '' : 'off')}>
                  {folded === 'off' ? <IconLayoutNavbarExpand size={16} /> : <IconLayoutNavbarCollapse size={16} />}
                </ActionIcon>
              </Tooltip>
            </div>
            <div className="pw-tab-body" role="tabpanel" aria-label={t(`tab.${tab}`)} tabIndex={0}>
              <Suspense fallback={null}>
                <TabBodies tab={tab} execution={execution} watched={watched} drawing={drawing} nodeId={nodeId} range={range} nameOf={nameOf} />
              </Suspense>
            </div>
          </Tabs>
        </div>
        <SidePanel checkpoints={live?.checkpoints ?? NO_CHECKPOINTS} events={live?.events ?? NO_EVENTS} first={execution.first_attempt} loading={!live} over={isFinal(execution.status)} isTask={execution.job_type === 'SQL_TASK'} nameOf={nameOf} onTab={setTab} onCheckpoint={(one) => { setTab('checkpoints'); setCheckpoint(String(one.id)) }} />
      </div>
    </main>
  )
}
