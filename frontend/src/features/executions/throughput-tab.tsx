import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { Execution, ExecutionEvent } from '../../api/types'
import type { ExecutionState } from '../../live/execution-state'
import { Chart } from '../../shared/charts/lazy-chart'
import { withGaps, type ChartMark } from '../../shared/charts/chart-data'
import { isFinal } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { Notice } from '../../shared/notice'
import { bytes, count, duration, rate, short } from '../../shared/numbers'
import { breaksLine, eventTitle, isChartMark } from './event-words'
import { batchesOf, PHASES, type Sample } from './samples'
import { useSamples } from './use-samples'

const BATCHES = 40
/** An idle execution is measured every ten seconds. */
const GAP_MS = 15_000
const size = (value: number) => {
  const { value: figure, unit } = bytes(value)
  return `${figure} ${unit}`
}
const spanWords = (ms: number) => duration(ms)

function useMarks(events: readonly ExecutionEvent[], first: number | null): ChartMark[] {
  const { t } = useTranslation('executions')
  return useMemo(() => events.filter(isChartMark).map((event) => ({ at: Date.parse(event.time), words: eventTitle(t, event, first), color: 'state-failed-mark' })), [events, first, t])
}

/** Where lines break: between samples this far apart, and where an attempt was lost or taken up. */
interface Gaps {
  apart: number
  breaks: readonly number[]
}

function useGaps(events: readonly ExecutionEvent[], resolution: number): Gaps {
  return useMemo(() => ({ apart: Math.max(GAP_MS, resolution * 3000), breaks: events.filter(breaksLine).map((event) => Date.parse(event.time)) }), [events, resolution])
}

function SmallChart({ title, value, note, samples, of, color, format, gaps }: { title: string; value: string; note: string; samples: readonly Sample[]; of: (sample: Sample) => number | null; color: string; format: (value: number) => string; gaps: Gaps }) {
  const { times, values } = useMemo(() => withGaps(samples.map((one) => one.time), [samples.map(of)], gaps.apart, gaps.breaks), [samples, of, gaps])
  const series = useMemo(() => [{ label: title, color }], [title, color])
  return (
    <div className="pw-chart-cell">
      <div className="pw-11 pw-3">{title}</div>
      <div className="pw-small-figure">
        {value} <span className="pw-11 pw-3">{note}</span>
      </div>
      <Chart title={title} times={times} values={values} series={series} height={64} axes={false} format={format} sync="execution" head={<span />} />
    </div>
  )
}

const hasMoved = (sample: Sample) => sample.in > 0 || (sample.processed ?? 0) > 0 || sample.batchId !== null
const backlogOf = (sample: Sample) => sample.backlog
const watermarkOf = (sample: Sample) => sample.watermarkMs
const stateOf = (sample: Sample) => sample.stateBytes
const rejectedOf = (sample: Sample) => sample.rejected

/** Of the whole run what came in, beside how fast batches are worked through; of a query, which has none, or of one node what went out. */
function Rates({ samples, marks, gaps, isTask, nodeId, nodeName }: { samples: readonly Sample[]; marks: readonly ChartMark[]; gaps: Gaps; isTask: boolean; nodeId: string; nodeName: string }) {
  const { t } = useTranslation('executions')
  const series = useMemo(() => [{ label: t('chart.in'), color: 'chart-in' }, nodeId || isTask ? { label: t('chart.out'), color: 'chart-out' } : { label: t('chart.processed'), color: 'chart-3', dash: true }], [t, nodeId, isTask])
  const { times, values } = useMemo(() => {
    const first = samples.map((one) => (nodeId ? (one.nodes[nodeId]?.in_per_second ?? null) : one.in))
    const second = samples.map((one) => (nodeId ? (one.nodes[nodeId]?.out_per_second ?? null) : isTask ? one.out : one.processed))
    return withGaps(samples.map((one) => one.time), [first, second], gaps.apart, gaps.breaks)
  }, [samples, gaps, isTask, nodeId])
  return <Chart title={t('chart.rows')} note={nodeName} times={times} values={values} series={series} height={188} format={short} whole marks={marks} sync="execution" />
}

function Batches({ samples, triggerMs, over, begun }: { samples: readonly Sample[]; triggerMs: number; over: boolean; begun: number }) {
  const { t } = useTranslation('executions')
  const { times, phases, count: many } = useMemo(() => batchesOf(samples, BATCHES, begun), [samples, begun])
  const series = useMemo(() => PHASES.map((phase) => ({ label: t(`phase.${phase.key}`), color: phase.color })), [t])
  const limit = useMemo(() => (triggerMs > 0 ? { at: triggerMs, words: t('chart.trigger', { duration: duration(triggerMs) }) } : null), [triggerMs, t])
  if (times.length === 0) return <Notice title={t('chart.batch')}>{t(samples.some((one) => one.batchId !== null) ? 'chart.noBatchInRange' : over ? 'chart.noBatchEver' : 'chart.noBatch')}</Notice>
  return <Chart title={t('chart.batch')} note={many > BATCHES ? t('chart.lastBatches', { count: BATCHES }) : ''} times={times} values={phases} series={series} height={188} bars format={spanWords} limit={limit} />
}

interface Props {
  execution: Execution
  live: ExecutionState | null
  events: readonly ExecutionEvent[]
  range: string
  nodeId: string
  nodeName: string
}

/** Rows per second, batch time by phase, and what grows: backlog, watermark gap, state, rejected rows. */
export function ThroughputTab({ execution, live, events, range, nodeId, nodeName }: Props) {
  const { t } = useTranslation('executions')
  const { samples, resolution, error, pending, retry } = useSamples(execution, range, live?.series)
  const marks = useMarks(events, execution.first_attempt)
  const gaps = useGaps(events, resolution)
  const last = samples.at(-1)
  const over = isFinal(execution.status)
  const isTask = execution.job_type === 'SQL_TASK'
  const hasPace = !isTask && execution.resolved.trigger !== 'real_time'
  if (error && samples.length === 0) return <Failure error={error} what={t('tab.throughput')} retry={retry} />
  if (samples.length === 0) return pending ? null : <Notice title={t('chart.none')}>{t(over ? 'chart.noneInRange' : 'chart.noneYet')}</Notice>
  if (over && !samples.some(hasMoved)) return <Notice title={t('chart.none')}>{t('chart.noneEver')}</Notice>
  const state = bytes(last?.stateBytes)
  const peak = Math.max(0, ...samples.map((one) => one.backlog ?? 0))
  return (
    <>
      <div className="pw-charts-two">
        <div className="pw-chart-cell">
          <Rates samples={samples} marks={marks} gaps={gaps} isTask={isTask} nodeId={nodeId} nodeName={nodeName} />
        </div>
        <div className="pw-chart-cell">
          <Batches samples={samples} triggerMs={hasPace ? Number(execution.resolved.trigger_interval ?? 0) * 1000 : 0} over={over} begun={execution.start_time ? Date.parse(execution.start_time) : Number.POSITIVE_INFINITY} />
        </div>
      </div>
      {!isTask && (
        <div className="pw-charts-four">
          <SmallChart title={t('strip.backlog')} value={count(last?.backlog)} note={peak > 0 ? t('chart.peak', { peak: count(peak) }) : t('chart.rowsUnit')} samples={samples} of={backlogOf} color="chart-in" format={short} gaps={gaps} />
          <SmallChart title={t('chart.watermark')} value={duration(last?.watermarkMs)} note="" samples={samples} of={watermarkOf} color="chart-3" format={spanWords} gaps={gaps} />
          <SmallChart title={t('chart.state')} value={state.unit ? `${state.value} ${state.unit}` : state.value} note={last?.stateRows ? t('chart.stateRows', { rows: count(last.stateRows) }) : ''} samples={samples} of={stateOf} color="chart-3" format={size} gaps={gaps} />
          <SmallChart title={t('strip.rejected')} value={rate(last?.rejected)} note={t('chart.perSecond')} samples={samples} of={rejectedOf} color="chart-rejected" format={short} gaps={gaps} />
        </div>
      )}
    </>
  )
}
