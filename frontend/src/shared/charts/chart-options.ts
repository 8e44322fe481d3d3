import uPlot from 'uplot'
import { clock, day, hourMinute, monthDay } from '../times'
import type { ChartMark, ChartSeries } from './chart-data'

export interface ChartLook {
  series: readonly ChartSeries[]
  bars: boolean
  axes: boolean
  dots: boolean
  format: (value: number) => string
  /** Rows and other counts: no tick stands between two of them. */
  whole: boolean
  /** The scale reaches at least this high. */
  atLeast: number
  times: () => readonly number[]
  marks: () => readonly ChartMark[]
  limit: () => ChartMark | null
  sync: string | undefined
  onCursor: (index: number | null) => void
  /** Told where the marks' lines stand, whenever that may have changed. */
  onDraw: (plot: uPlot) => void
}

/** Steps of a time axis in seconds. */
const STEPS = [1, 5, 10, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200]

const decades = (from: number) => Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((first) => (first * 10 ** power) / from)).flat()
const WHOLE = decades(1)
const TENTHS = decades(10)

/** Steps of the y axis of counts: whole, save where all of it lies below one, which rows per second may. */
export const countSteps = (top: number): number[] => (top >= 1 ? WHOLE : TENTHS)

/** Room at the right for half of the last time's words. */
const HALF_CLOCK = 26
const LEFT_LEAST = 48
const LEFT_GAP = 6
const HEADROOM = 1.12

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
const FONT = () => `10.5px ${token('font') || 'sans-serif'}`
/** For what is drawn by hand, in the canvas's own pixels. */
const drawnFont = () => `${10.5 * devicePixelRatio}px ${token('font') || 'sans-serif'}`

/** Where the y axis ends: above the highest value, and above the words of a limit that is within reach. */
export function topOf(look: Pick<ChartLook, 'atLeast' | 'limit'>, high: number): number {
  const top = Math.max(look.atLeast, high * HEADROOM)
  const limit = look.limit()?.at ?? 0
  return (limit <= top ? Math.max(top, limit * (HEADROOM + 0.06)) : top) || 1
}

/** Lines at the marks' times, and the limit with its words; the marks' own words stand over the plot. */
function drawMarks(plot: uPlot, look: ChartLook): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = drawnFont()
  // The axes leave theirs behind, and words would lie on their line.
  ctx.textBaseline = 'alphabetic'
  ctx.lineWidth = ratio
  ctx.setLineDash([3 * ratio, 3 * ratio])
  for (const mark of look.bars || look.times().length < 2 ? [] : look.marks()) {
    const x = Math.round(plot.valToPos(mark.at / 1000, 'x', true))
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.strokeStyle = token(mark.color ?? 'text-3')
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  const limit = look.limit()
  const top = limit ? plot.valToPos(limit.at, 'y', true) : Number.NaN
  if (limit && top >= bbox.top) {
    ctx.strokeStyle = ctx.fillStyle = token('warn-mark') || token('state-stale-mark')
    ctx.beginPath()
    ctx.moveTo(bbox.left, top)
    ctx.lineTo(bbox.left + bbox.width, top)
    ctx.stroke()
    ctx.textAlign = 'right'
    const width = ctx.measureText(limit.words).width
    const words = ctx.fillStyle
    ctx.fillStyle = token('surface-page')
    ctx.fillRect(bbox.left + bbox.width - width - 4 * ratio, top - 17 * ratio, width + 4 * ratio, 16 * ratio)
    ctx.fillStyle = words
    ctx.fillText(limit.words, bbox.left + bbox.width, top - 5 * ratio)
  }
  ctx.restore()
}

function seriesOf(look: ChartLook): uPlot.Series[] {
  const fill = Number.parseFloat(token('chart-fill')) / 100 || 0.1
  return look.series.map((one, index) => {
    const color = token(one.color)
    const painted: uPlot.Series = { label: one.label, stroke: color, width: 1.5, points: look.dots ? { show: true, size: 5, width: 0, fill: color } : { show: false }, spanGaps: false }
    if (look.bars) return { ...painted, fill: color, width: 0, paths: uPlot.paths.bars?.({ size: [0.82, 24], align: 0 }) ?? null } as uPlot.Series
    if (one.dash) painted.dash = [3, 2]
    if (index === 0) painted.fill = `color-mix(in srgb, ${color} ${fill * 100}%, transparent)`
    return painted
  })
}

/** Clock times under the axis, with seconds where the steps are short, and the date at the first of each day where there are several. */
export function timeWords(look: Pick<ChartLook, 'bars' | 'times'>, splits: readonly number[]): (string | null)[] {
  if (look.bars) return splits.map((ordinal) => (Number.isInteger(ordinal) && look.times()[ordinal] !== undefined ? clock(look.times()[ordinal] ?? 0) : null))
  const step = splits.length > 1 ? (splits[1] ?? 0) - (splits[0] ?? 0) : 60
  const drawnTimes = look.times()
  const severalDays = day(drawnTimes[0] ?? 0) !== day(drawnTimes.at(-1) ?? 0)
  return splits.map((at, index) => {
    const time = hourMinute(at * 1000)
    const begins = index === 0 || day((splits[index - 1] ?? 0) * 1000) !== day(at * 1000)
    if (step >= 86_400 || (severalDays && begins && time === '00:00')) return monthDay(at * 1000)
    if (severalDays && begins) return `${monthDay(at * 1000)} ${time}`
    return step < 60 ? clock(at * 1000) : time
  })
}

/** Room at the left for the widest words of the y axis; charts over each other begin at one place as long as theirs are short. */
export const leftRoom = (widths: readonly number[]): number => Math.max(LEFT_LEAST, Math.ceil(Math.max(0, ...widths)) + LEFT_GAP + 2)

const leftSize = (plot: uPlot, values: readonly string[] | null): number => {
  plot.ctx.save()
  plot.ctx.font = drawnFont()
  const widths = (values ?? []).map((words) => plot.ctx.measureText(words).width / devicePixelRatio)
  plot.ctx.restore()
  return leftRoom(widths)
}

/** uPlot's options: horizontal grid only, y from 0, no legend; one cursor over all charts with the same `sync`. */
export function chartOptions(look: ChartLook, width: number, height: number): uPlot.Options {
  const axis = { stroke: token('text-3'), font: FONT(), ticks: { show: false } }
  const grid = { stroke: token('chart-grid'), width: 1 }
  const words = (value: number) => (value === 0 ? '0' : look.format(value))
  return {
    width,
    height,
    padding: look.axes ? [8, HALF_CLOCK, 0, 0] : [2, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false }, ...(look.sync ? { sync: { key: look.sync, scales: ['x', null] } } : {}) },
    scales: {
      x: look.bars ? { time: false, range: (_plot, low, high) => [(low ?? 0) - 0.6, (high ?? 0) + 0.6] } : { time: true },
      y: { range: (_plot, _low, high) => [0, topOf(look, high || 0)] },
    },
    axes: look.axes
      ? [
          { ...axis, grid: { show: false }, size: 27, gap: 9, space: 70, incrs: look.bars ? [1, 2, 5, 10, 20] : STEPS, values: (_plot, splits) => timeWords(look, splits) },
          { ...axis, grid, size: leftSize, gap: LEFT_GAP, space: 36, ...(look.whole ? { incrs: (_plot: uPlot, _axis: number, _low: number, high: number) => countSteps(high) } : {}), values: (_plot, splits) => splits.map(words) },
        ]
      : [{ show: false }, { show: false }],
    series: [{}, ...seriesOf(look)],
    hooks: {
      setCursor: [(plot) => look.onCursor(plot.cursor.idx ?? null)],
      draw: [(plot) => drawMarks(plot, look), look.onDraw],
    },
  }
}
