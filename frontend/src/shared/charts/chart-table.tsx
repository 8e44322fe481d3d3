import { memo } from 'react'
import { NO_VALUE } from '../numbers'
import { clock } from '../times'
import type { ChartSeries, ChartValues } from './chart-data'

const ROWS = 12

interface Props {
  title: string
  times: readonly number[]
  values: readonly ChartValues[]
  series: readonly ChartSeries[]
  format: (value: number) => string
}

/** The same figures for screen readers: a dozen rows spread over the range. */
export const ChartTable = memo(function ChartTable({ title, times, values, series, format }: Props) {
  const step = Math.max(1, Math.ceil(times.length / ROWS))
  const shown = times.map((_, index) => index).filter((index) => index % step === 0)
  return (
    <table className="pw-hidden" aria-label={title}>
      <thead>
        <tr>
          <th />
          {series.map((one) => (
            <th key={one.label}>{one.label}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map((index) => (
          <tr key={index}>
            <th>{clock(times[index] ?? 0)}</th>
            {series.map((one, place) => (
              <td key={one.label}>{values[place]?.[index] == null ? NO_VALUE : format(values[place][index] ?? 0)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
})
