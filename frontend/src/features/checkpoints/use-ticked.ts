import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Checkpoint, Page } from '../../api/types'
import { answer } from '../../shared/answers'

/** More are not ticked at once. */
export const MOST_TICKED = 2000

export const isTickable = (row: Checkpoint): boolean => row.status === 'COMPLETED'

/** The ids of complete checkpoints of a list with these filters, the newest first, of all its pages. */
async function idsOf(filters: Record<string, string>): Promise<{ ids: number[]; more: boolean }> {
  const ids: number[] = []
  let next: string | null = withQuery('/api/checkpoints', { ...filters, status: 'COMPLETED', page_size: 200 })
  while (next && ids.length < MOST_TICKED) {
    const page: Page<Checkpoint> = await request<Page<Checkpoint>>('GET', next)
    ids.push(...page.results.map((row) => row.id))
    next = page.next && new URL(page.next, location.origin).pathname + new URL(page.next, location.origin).search
  }
  return { ids: ids.slice(0, MOST_TICKED), more: next !== null }
}

/** Which rows of a list are ticked; another filter begins anew. */
export function useTicked(filters: Record<string, string>) {
  const { t } = useTranslation('checkpoints')
  const [ticked, setTicked] = useState<{ of: string; ids: ReadonlySet<number>; most: boolean }>({ of: '', ids: new Set(), most: false })
  const [reading, setReading] = useState(false)
  const of = JSON.stringify(filters)
  const ids = useMemo(() => (ticked.of === of ? ticked.ids : new Set<number>()), [ticked, of])
  const set = (chosen: Iterable<number>, most = false) => setTicked({ of, ids: new Set(chosen), most })
  const every = async () => {
    setReading(true)
    try {
      const found = await idsOf(filters)
      set(found.ids, found.more)
    } catch (error) {
      answer(false, t('tick.failed', { why: (error as Error).message }))
    } finally {
      setReading(false)
    }
  }
  return {
    ids,
    most: ticked.of === of && ticked.most,
    reading,
    every: () => void every(),
    clear: () => set([]),
    flip: (id: number) => set(ids.has(id) ? [...ids].filter((one) => one !== id) : [...ids, id]),
    flipAll: (shown: readonly number[]) => set(shown.every((id) => ids.has(id)) ? [...ids].filter((id) => !shown.includes(id)) : [...ids, ...shown]),
  }
}

export type Ticked = ReturnType<typeof useTicked>
