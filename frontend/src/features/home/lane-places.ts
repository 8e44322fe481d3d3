import type { Lane } from '../../api/types'

const DAY = 24 * 60 * 60 * 1000
/** Per cent of the lane: a span is never too thin to be seen and hit. */
const LEAST = 0.6
const STEPS = 6

export interface Place {
  left: number
  width: number
}

/** Where a span stands in the day that ends now, in per cent; null when it is wholly before. */
export function placeOf(span: { from: string; to: string | null }, now: number): Place | null {
  const start = now - DAY
  const from = Math.max(start, Date.parse(span.from))
  const to = Math.min(now, span.to === null ? now : Date.parse(span.to))
  if (to < start || from > now) return null
  const width = Math.max(LEAST, ((to - from) / DAY) * 100)
  return { left: Math.min(((from - start) / DAY) * 100, 100 - width), width }
}

/** Every four hours, the last one is now. */
export const axisTimes = (now: number): { time: number; left: number }[] => Array.from({ length: STEPS + 1 }, (_, step) => ({ time: now - DAY + (DAY / STEPS) * step, left: (100 / STEPS) * step }))

const WORST_FIRST = ['FAILED', 'SCHEDULED', 'INITIALIZING', 'RUNNING', 'PAUSED', 'COMPLETED', 'CANCELLED']

const rankOf = (lane: Lane): number => WORST_FIRST.indexOf(lane.spans.at(-1)?.status ?? 'CANCELLED')

/** By the latest execution's state, worst first; within it as the server sent them. */
export const worstFirst = (lanes: readonly Lane[]): Lane[] => [...lanes].sort((one, other) => rankOf(one) - rankOf(other))
