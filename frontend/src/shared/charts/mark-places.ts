import type { ChartMark } from './chart-data'

/** Marks so close together that they share one label; `x` is the line of the last of them, in pixels of the plot. */
export interface MarkGroup {
  marks: ChartMark[]
  x: number
  /** The label stands at the left of the first line: there is no room at the right of the last. */
  leftward: boolean
  /** Pixels that the label may take. */
  room: number
}

/** Less room than this tells nothing. */
const LEAST = 84
const BESIDE = 5

interface Placed {
  marks: ChartMark[]
  first: number
  last: number
}

function grouped(marks: readonly ChartMark[], xOf: (at: number) => number, width: number): Placed[] {
  const groups: Placed[] = []
  for (const mark of [...marks].sort((one, other) => one.at - other.at)) {
    const x = xOf(mark.at)
    if (x < 0 || x > width) continue
    const before = groups.at(-1)
    if (before && x - before.last < LEAST) {
      before.marks.push(mark)
      before.last = x
    } else groups.push({ marks: [mark], first: x, last: x })
  }
  return groups
}

/** Where the words of marks stand so that none lies over another. */
export function markPlaces(marks: readonly ChartMark[], xOf: (at: number) => number, width: number): MarkGroup[] {
  const groups = grouped(marks, xOf, width)
  return groups.map(({ marks: together, first, last }, index) => {
    const next = groups[index + 1]
    const before = groups[index - 1]
    const isLast = next === undefined
    const right = (next?.first ?? width) - last
    const left = first - (before?.last ?? 0)
    const leftward = isLast && right < LEAST && left > right
    // The words of the group before stand in the same gap: each has half of it.
    const shares = !isLast && index + 1 === groups.length - 1 && width - next.last < LEAST && next.first - last > width - next.last
    const room = leftward ? (before ? left / 2 : left) : shares ? right / 2 : right
    return { marks: together, x: leftward ? first : last, leftward, room: Math.max(0, Math.floor(room) - 2 * BESIDE) }
  })
}
