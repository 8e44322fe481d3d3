import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { CheckpointHistory } from '../../api/types'
import { Chart } from '../../shared/charts/lazy-chart'
import type { ChartMark } from '../../shared/charts/chart-data'
import { bytes, count, duration, short, shortDuration } from '../../shared/numbers'
import { checkpointLines } from './checkpoint-lines'

const HEIGHT = 116
/** With more failures than this their words would lie over one another; the lines stay. */
const WORDS_MOST = 6
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
  format: (value: number) => string
  limit?: ChartMark | null
}

function One({ name, color, times, values, marks, format, limit = null }: OneProps) {
  const { t } = useTranslation('checkpoints')
  const series = useMemo(() => [{ label: '', color }], [color])
  const lines = useMemo(() => [values], [values])
  return (
    <div className="pw-chart-cell">
      <Chart title={t(`history.${name}`)} times={times} values={lines} series={series} height={HEIGHT} dots={times.length <= DOTS_MOST} format={format} marks={marks} limit={limit} sync="checkpoints" />
    </div>
  )
}

/** An execution's checkpoints over time: size, duration, rows between two, and their distance against the interval; failures are marked. */
export function CheckpointCharts({ history }: { history: CheckpointHistory }) {
  const { t } = useTranslation('checkpoints')
  const lines = useMemo(() => checkpointLines(history), [history])
  const marks = useMemo(() => lines.failures.map(({ at, number }) => ({ at, words: t('history.failed', { number }), color: 'state-failed-mark' })), [lines, t])
  const limit = useMemo(() => (history.interval === null ? null : { at: history.interval * 1000, words: t('history.target', { duration: duration(history.interval * 1000) }) }), [history.interval, t])
  if (lines.times.length < 2) return null
  const { times } = lines
  return (
    <section className="pw-checkpoint-charts" aria-label={t('history.label')} data-many={marks.length > WORDS_MOST || undefined}>
      <div>
        <One name="size" color="chart-1" times={times} values={lines.sizes} marks={marks} format={size} />
        <One name="took" color="chart-4" times={times} values={lines.took} marks={marks} format={took} />
        <One name="rows" color="chart-6" times={times} values={lines.rows} marks={marks} format={short} />
        <One name="apart" color="chart-2" times={times} values={lines.apart} marks={marks} format={took} limit={limit} />
      </div>
      {history.more && <p className="pw-11 pw-3">{t('history.more', { shown: count(history.results.length) })}</p>}
    </section>
  )
}
