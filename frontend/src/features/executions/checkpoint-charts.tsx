import { useElementSize } from '@mantine/hooks'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { CheckpointHistory } from '../../api/types'
import { Chart } from '../../shared/charts/lazy-chart'
import type { ChartMark } from '../../shared/charts/chart-data'
import '../../shared/checkpoints/one/i18n'
import { bytes, count, duration, short, shortDuration } from '../../shared/numbers'
import { bucketed, checkpointLines } from './checkpoint-lines'

const HEIGHT = 116
/** With more failures than this their words would lie over one another; the lines stay. */
const WORDS_MOST = 6
/** How they stand side by side, and what of each chart's width is not its plot. */
const CHARTS = 4
const CHART_LEAST = 232
const AROUND = 106
/** So few are drawn as dots too: a line needs two. */
const DOTS_MOST = 60
const size = (value: number) => {
  const { value: figure, unit } = bytes(value)
  return `${figure} ${unit}`
}
const took = (ms: number) => shortDuration(ms)

interface OneProps {
  name: 'size' | 'took' | 'rows' | 'apart'
  color: string
  times: readonly number[]
  values: readonly (number | null)[]
  marks: readonly ChartMark[]
  /** The newest figure itself, whatever is drawn of it. */
  now: number | null
  /** Not where a point stands for several. */
  dots: boolean
  format: (value: number) => string
  limit?: ChartMark | null
}

function One({ name, color, times, values, marks, now, dots, format, limit = null }: OneProps) {
  const { t } = useTranslation('checkpoints')
  const series = useMemo(() => [{ label: '', color }], [color])
  const lines = useMemo(() => [values], [values])
  const newest = useMemo(() => [now], [now])
  return (
    <div className="pw-chart-cell">
      <Chart title={t(`history.${name}`)} times={times} values={lines} series={series} height={HEIGHT} dots={dots && times.length <= DOTS_MOST} format={format} whole={name === 'rows'} now={newest} marks={marks} limit={limit} sync="checkpoints" />
    </div>
  )
}

/** An execution's checkpoints over time: size, duration, rows between two, and their distance against the interval; failures are marked. */
export function CheckpointCharts({ history }: { history: CheckpointHistory }) {
  const { t } = useTranslation(['checkpoints', 'checkpoint'])
  const { ref, width } = useElementSize()
  const plot = width / Math.min(CHARTS, Math.max(1, Math.floor(width / CHART_LEAST))) - AROUND
  const raw = useMemo(() => checkpointLines(history), [history])
  const lines = useMemo(() => (width > 0 ? bucketed(raw, plot) : raw), [raw, width, plot])
  const marks = useMemo(() => lines.failures.map(({ at, number, count: some }) => ({ at, words: some > 1 ? t('checkpoint:failedSome', { count: some }) : t('history.failed', { number }), color: 'state-failed-mark' })), [lines, t])
  const limit = useMemo(() => (history.interval === null ? null : { at: history.interval * 1000, words: t('history.target', { duration: duration(history.interval * 1000) }) }), [history.interval, t])
  if (lines.times.length < 2) return null
  const { times } = lines
  return (
    <section ref={ref} className="pw-checkpoint-charts" aria-label={t('history.label')} data-many={marks.length > WORDS_MOST || undefined}>
      <div>
        <One name="size" color="chart-1" times={times} values={lines.sizes} now={raw.sizes.at(-1) ?? null} marks={marks} dots={lines.each === 1} format={size} />
        <One name="took" color="chart-4" times={times} values={lines.took} now={raw.took.at(-1) ?? null} marks={marks} dots={lines.each === 1} format={took} />
        <One name="rows" color="chart-6" times={times} values={lines.rows} now={raw.rows.at(-1) ?? null} marks={marks} dots={lines.each === 1} format={short} />
        <One name="apart" color="chart-2" times={times} values={lines.apart} now={raw.apart.at(-1) ?? null} marks={marks} dots={lines.each === 1} format={took} limit={limit} />
      </div>
      {(history.more || lines.each > 1) && <p className="pw-11 pw-3">{history.more && t('history.more', { shown: count(history.results.length) })} {lines.each > 1 && t('checkpoint:bucketed', { count: lines.each })}</p>}
    </section>
  )
}
