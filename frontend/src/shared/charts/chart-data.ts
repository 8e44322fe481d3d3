/** One line or stack of a chart. `color` is the name of a token. */
export interface ChartSeries {
  label: string
  color: string
  dash?: boolean
}

/** A thin line with words at a time (ms), or a dashed limit at a value. */
export interface ChartMark {
  at: number
  words: string
  color?: string
}

export type ChartValues = readonly (number | null)[]

/** Running sums from the first series upward, so that drawing from the top down stacks them. */
export function stacked(values: readonly ChartValues[]): (number | null)[][] {
  const sums: (number | null)[][] = []
  values.forEach((series, index) => {
    const below = sums[index - 1]
    sums.push(series.map((value, at) => (value == null && below?.[at] == null ? null : (value ?? 0) + (below?.[at] ?? 0))))
  })
  return sums
}

/** Breaks a line where two samples are much further apart than usual, or where something happened between them that ends it: gaps stay gaps. */
export function withGaps(times: readonly number[], values: readonly ChartValues[], apartMs: number, breaks: readonly number[] = []): { times: number[]; values: (number | null)[][] } {
  const outTimes: number[] = []
  const outValues: (number | null)[][] = values.map(() => [])
  times.forEach((time, index) => {
    const last = outTimes.at(-1)
    if (last !== undefined && (time - last > apartMs || breaks.some((at) => at > last && at <= time))) {
      outTimes.push(last + 1)
      outValues.forEach((series) => series.push(null))
    }
    outTimes.push(time)
    outValues.forEach((series, at) => series.push(values[at]?.[index] ?? null))
  })
  return { times: outTimes, values: outValues }
}
