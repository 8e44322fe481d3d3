/** Figures as the interface writes them: exact to seven digits, then short; a thin grey unit follows elsewhere. */

import i18next from 'i18next'

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const shortest = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

export const NO_VALUE = '–'

export const count = (value: number | null | undefined): string => {
  if (value == null || !Number.isFinite(value)) return NO_VALUE
  return Math.abs(value) < 100_000_000 ? exact.format(value) : compact.format(value).replace(/[KMB]/, (unit) => (unit === 'K' ? 'k' : unit))
}

/** For axes and lanes, in three figures: 12.5k, 702k. */
export const short = (value: number | null | undefined): string => {
  if (value == null || !Number.isFinite(value)) return NO_VALUE
  if (value > 0 && value < 10) return String(Math.round(value * 10) / 10)
  if (value < 1000) return String(Math.round(value))
  return shortest.format(value).replace('K', 'k')
}

/** Rows per second: one decimal under ten, whole above. */
export const rate = (value: number | null | undefined): string => {
  if (value == null || !Number.isFinite(value)) return NO_VALUE
  return value > 0 && value < 9.95 ? (Math.round(value * 10) / 10).toString() : count(value)
}

export interface Quantity {
  value: string
  unit: string
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export function bytes(value: number | null | undefined): Quantity {
  if (value == null || !Number.isFinite(value)) return { value: NO_VALUE, unit: '' }
  let size = value
  let step = 0
  while (Math.abs(size) >= 999.5 && step < BYTE_UNITS.length - 1) {
    size /= 1000
    step += 1
  }
  return { value: step === 0 || size >= 100 ? String(Math.round(size)) : size >= 10 ? size.toFixed(1) : size.toFixed(2).replace(/0$/, ''), unit: BYTE_UNITS[step] ?? 'B' }
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

type TimeUnit = 'ms' | 's' | 'min' | 'h' | 'd'

const quantity = (value: number | string, unit: TimeUnit) => `${value} ${i18next.t(`shared:unit.${unit}`) || unit}`

const brief = (size: number) => (size < 9.95 ? String(Math.round(size * 10) / 10) : String(Math.round(size)))

/** For axes: 412 ms · 8.6 s · 1.7 min. */
export function shortDuration(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return NO_VALUE
  if (ms < SECOND) return quantity(Math.round(ms), 'ms')
  if (ms < 99.5 * SECOND) return quantity(brief(ms / SECOND), 's')
  if (ms < 99.5 * MINUTE) return quantity(brief(ms / MINUTE), 'min')
  return ms < 2 * DAY ? quantity(brief(ms / HOUR), 'h') : quantity(brief(ms / DAY), 'd')
}

/** 412 ms · 8.6 s · 12 min 4 s · 3 h 57 min · 4 d 2 h, in the reader's language. */
export function duration(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return NO_VALUE
  if (ms < SECOND) return quantity(Math.round(ms), 'ms')
  if (ms < MINUTE) return quantity(ms < 10 * SECOND ? (ms / SECOND).toFixed(1) : Math.round(ms / SECOND), 's')
  const pair = (big: number, bigUnit: TimeUnit, small: number, smallUnit: TimeUnit) => (small > 0 ? `${quantity(big, bigUnit)} ${quantity(small, smallUnit)}` : quantity(big, bigUnit))
  if (ms < HOUR) return pair(Math.floor(ms / MINUTE), 'min', Math.floor((ms % MINUTE) / SECOND), 's')
  if (ms < DAY) return pair(Math.floor(ms / HOUR), 'h', Math.floor((ms % HOUR) / MINUTE), 'min')
  return pair(Math.floor(ms / DAY), 'd', Math.floor((ms % DAY) / HOUR), 'h')
}

/** One unit only, for "6 min ago". */
export function span(ms: number): Quantity {
  const size = Math.max(0, ms)
  if (size < MINUTE) return { value: String(Math.floor(size / SECOND)), unit: 's' }
  if (size < HOUR) return { value: String(Math.floor(size / MINUTE)), unit: 'min' }
  if (size < DAY) return { value: String(Math.floor(size / HOUR)), unit: 'h' }
  return { value: String(Math.floor(size / DAY)), unit: 'd' }
}

/** A share in two decimals that is never told better than it is: 0.99999 is 99.99 %. */
export const score = (share: number): string => `${Math.floor(share * 10_000) / 100} %`

export function percent(part: number, whole: number): string {
  if (whole <= 0) return NO_VALUE
  const share = (part / whole) * 100
  if (share === 0) return '0 %'
  return share < 0.001 ? '< 0.001 %' : `${share >= 10 ? Math.round(share) : Number(share.toPrecision(share < 0.01 ? 1 : 2))} %`
}
