import type { LogLine, LogPage } from '../../api/types'

const LINES_KEPT = 3_000

/** The lines that are shown. */
export interface LogLines {
  lines: LogLine[]
  /** The byte of the file before which there may be more that fits; 0: there is nothing; null: as the first line says. */
  earlier: number | null
  /** So many are kept: a page that stays open does not grow for ever. */
  most: number
}

export const noLines = (isFromBeginning: boolean): LogLines => ({ lines: [], earlier: isFromBeginning ? 0 : null, most: LINES_KEPT })

/** With what was written since. A file that was begun anew is gone with what stood before these lines: nothing earlier can be asked for. */
export function withNewer({ lines, earlier, most }: LogLines, fresh: readonly LogLine[]): LogLines {
  const first = fresh[0]
  if (!first) return { lines, earlier, most }
  const isAnew = lines.some((line) => line.offset > first.offset)
  const all = [...(isAnew ? lines.map((line) => ({ ...line, offset: 0 })) : lines), ...fresh]
  const kept = all.slice(-most)
  const isOpen = earlier === null || isAnew || kept.length < all.length
  return { lines: kept, earlier: isOpen ? (kept[0]?.offset ?? 0) : earlier, most }
}

/** With what was asked for from before them. */
export const withEarlier = ({ lines, most }: LogLines, page: LogPage): LogLines => ({ lines: [...page.results, ...lines], earlier: page.more ? page.next_offset : 0, most: most + page.results.length })
