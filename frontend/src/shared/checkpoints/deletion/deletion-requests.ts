import { request } from '../../../api/request'
import type { Deletion, DeletionItem } from '../../../api/types'

/** So many ids a call: a person sees how far it got. */
const AT_ONCE = 100

/** What would become of each, or with `dryRun` false what became of them, in calls one after another; `onProgress` gets how many are through. */
export async function deleteMany(ids: readonly number[], { reason, dryRun, onProgress }: { reason: string; dryRun: boolean; onProgress?: (done: number) => void }): Promise<DeletionItem[]> {
  const found: DeletionItem[] = []
  const size = dryRun ? 500 : AT_ONCE
  for (let start = 0; start < ids.length; start += size) {
    const part = await request<Deletion>('POST', '/api/checkpoints/delete', { ids: ids.slice(start, start + size), reason, dry_run: dryRun })
    found.push(...part.results)
    onProgress?.(found.length)
  }
  return found
}
