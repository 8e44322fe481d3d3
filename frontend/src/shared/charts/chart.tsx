import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { NO_VALUE, short } from '../numbers'
import { clock, day, hourMinute, monthDay } from '../times'
import { stacked, type ChartMark, type ChartSeries, type ChartValues } from './chart-data'
import { chartOptions, type ChartLook } from './chart-options'
import { ChartMarks } from './chart-marks'
import { ChartTable } from './chart-table'
import { markPlaces, type MarkGroup } from './mark-places'

export interface ChartProps {
  title: string
  note?: string
  /** Milliseconds, rising. */
  times: readonly number[]
  values: readonly ChartValues[]
  series: readonly ChartSeries[]
  height?: number
  bars?: boolean
  axes?: boolean
  /** A dot at each value: a line alone shows no value that stands alone. */
  dots?: boolean
  format?: (value: number) => string
  /** The values are rows or another count. */
  whole?: boolean
  atLeast?: number
  marks?: readonly ChartMark[]
  limit?: ChartMark | null
  sync?: string
  /** What the keys say while no cursor is on the chart; else the last values drawn. */
  now?: ChartValues
  /** Stands in the title line instead of the keys. */
  head?: React.ReactNode
}

const NO_MARKS: readonly ChartMark[] = []
const NO_GROUPS: readonly MarkGroup[] = []

/** The marks' places in pixels of the page, from the plot's left edge on. */
function groupsOf(plot: uPlot, marks: readonly ChartMark[]): MarkGroup[] {
  const left = plot.over.offsetLeft
  return markPlaces(marks, (time) => plot.valToPos(time / 1000, 'x'), plot.over.clientWidth).map((group) => ({ ...group, x: group.x + left }))
}

/** Drawn data: lines over seconds; bars side by side by their ordinal, stacked series from the top down. */
function drawn(times: readonly number[], values: readonly ChartValues[], bars: boolean): uPlot.AlignedData {
  const lines = bars ? stacked(values).reverse() : values
  return [times.map((time, ordinal) => (bars ? ordinal : time / 1000)), ...lines.map((line) => [...line])] as uPlot.AlignedData
}

/** A chart with its title line; the cursor's values stand in that line, in fixed width. */
export default function Chart({ title, note, times, values, series, height = 180, bars = false, axes = true, dots = false, format = short, whole = false, atLeast = 0, marks = NO_MARKS, limit = null, sync, now, head }: ChartProps) {
  const scheme = useComputedColorScheme('light')
  const { ref, width } = useElementSize()
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const [groups, setGroups] = useState<readonly MarkGroup[]>(NO_GROUPS)
  const latest = useRef({ times, values, marks, limit })
  const shape = series.map((one) => `${one.label}${one.color}${one.dash ?? ''}`).join('|')

  const onDraw = useCallback((drawnPlot: uPlot) => {
    const { times: shown, marks: these } = latest.current
    const next = bars || shown.length < 2 ? NO_GROUPS : groupsOf(drawnPlot, these)
    setGroups((old) => (JSON.stringify(old) === JSON.stringify(next) ? old : next))
  }, [bars])

  const look = useMemo<ChartLook>(
    () => ({ series: bars ? [...series].reverse() : series, bars, axes, dots, format, whole, atLeast, times: () => latest.current.times, marks: () => latest.current.marks, limit: () => latest.current.limit, sync, onCursor: setAt, onDraw }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- series are compared by what they say
    [shape, bars, axes, dots, format, whole, atLeast, sync, onDraw],
  )

  useEffect(() => {
    const box = place.current
    if (!box || width === 0) return
    const made = new uPlot(chartOptions(look, width, height), drawn(latest.current.times, latest.current.values, bars), box)
    plot.current = made
    return () => {
      made.destroy()
      plot.current = null
    }
  }, [look, width, height, scheme, bars])

  useEffect(() => {
    latest.current = { times, values, marks, limit }
    plot.current?.setData(drawn(times, values, bars))
  }, [times, values, marks, limit, bars])

  const index = at ?? times.length - 1
  const severalDays = times.length > 1 && day(times[0] ?? 0) !== day(times.at(-1) ?? 0)
  const said = (place: number) => {
    const value = at === null && now ? now[place] : values[place]?.[index]
    return value == null ? NO_VALUE : format(value)
  }
  return (
    <figure className="pw-chart" aria-label={title}>
      <figcaption className="pw-chart-head">
        <b>{title}</b>
        {note && <span className="pw-11 pw-3 pw-cut">{note}</span>}
        <span className="pw-grow" />
        {head ?? (
          <>
            {at !== null && times[at] !== undefined && <span className="pw-mono-11 pw-3">{severalDays ? `${monthDay(times[at])} ${hourMinute(times[at])}` : clock(times[at])}</span>}
            {series.map((one, place) => (
              <span key={one.label} className={`pw-key${one.dash ? ' pw-key-dash' : ''}${bars ? ' pw-key-square' : ''}`} style={{ '--k': `var(--${one.color})` } as React.CSSProperties}>
                <i />
                {one.label} {!bars && <b>{said(place)}</b>}
              </span>
            ))}
          </>
        )}
      </figcaption>
      <div ref={ref} className="pw-chart-plot" style={{ height }} aria-hidden>
        <div ref={place} />
        <ChartMarks groups={groups} />
      </div>
      <ChartTable title={title} times={times} values={values} series={series} format={format} />
    </figure>
  )
}
