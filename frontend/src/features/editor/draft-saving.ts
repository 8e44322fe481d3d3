import i18next from 'i18next'
import type { DagDocument } from '../../dag/document'
import { ApiError, isUnanswered } from '../../api/request'
import { toldMeanwhile } from '../../dag/problems'
import { answer } from '../../shared/answers'
import { DraftConflict, saveDraft, saveLayout } from './draft-requests'
import { useEditor } from './editor-store'

/** The document that a save brought to the server, and the revision it became there. */
interface Kept {
  document: DagDocument
  revision: number
}

/** A save that nobody answered, over `revision`: the server may have it all the same. Sent again as it was, it is taken for the same save. */
let unanswered: (Kept & { jobName: string }) | null = null

/** The document to send once more before any newer one; it is forgotten here. */
function takeUnanswered(jobName: string): Kept | null {
  const found = unanswered?.jobName === jobName ? unanswered : null
  if (found) unanswered = null
  return found
}

/** A server that failed by itself has kept nothing. */
const mayBeKept = (error: unknown) => isUnanswered(error) && !(error instanceof ApiError && error.status === 500)

/** The save under way, if any. It never rejects. */
let underWay: Promise<Kept | null> = Promise.resolve(null)

/** Resolves once nothing more is on its way to the server: a job that was just left is read after that. */
export const draftsKept = async (): Promise<void> => void (await underWay)

async function keepNow(): Promise<Kept | null> {
  const { jobName, revision, history } = useEditor.getState()
  const again = takeUnanswered(jobName)
  // Where the draft was read anew since, what was sent over an older revision is of no use.
  const resent = again?.revision === revision
  const { document } = resent ? again : history.present
  const tell = (change: Partial<ReturnType<typeof useEditor.getState>>) => useEditor.getState().jobName === jobName && useEditor.setState(change)
  tell({ save: { kind: 'saving' } })
  try {
    const draft = await saveDraft(jobName, document, revision)
    const before = useEditor.getState()
    const unchanged = before.history.present.document === document
    // The analysis tells more than a save does: an answer that comes after its own leaves its problems, as does one about another drawing.
    const problems = before.analysed === document || !unchanged ? {} : { told: draft.problems, problems: toldMeanwhile(draft.problems, before, document) }
    tell({ saved: { ...before.saved, document }, revision: draft.revision, ...problems, delivery: draft.delivery, save: unchanged ? { kind: 'saved', at: Date.now() } : { kind: 'dirty' } })
    const kept = { document, revision: draft.revision }
    return resent ? await keepRest(jobName, kept) : kept
  } catch (error) {
    if (mayBeKept(error)) unanswered = { jobName, document, revision }
    if (error instanceof DraftConflict) tell({ save: { kind: 'conflict', by: error.by, revision: error.revision } })
    else {
      const refused = error instanceof ApiError && error.status < 500 ? error.message : ''
      tell({ save: refused || navigator.onLine ? { kind: 'failed', refused } : { kind: 'offline' } })
    }
    return null
  }
}

/** What a save just made has not brought to the server, if the same job is still open. */
async function keepRest(jobName: string, kept: Kept | null): Promise<Kept | null> {
  const { jobName: open, history, saved, save } = useEditor.getState()
  return open !== jobName || save.kind === 'conflict' || history.present.document === saved.document ? kept : keepNow()
}

/** Save the document as it is now, after a save under way: two at once would be in each other's way. Changes made meanwhile come next. */
export async function saveNow(): Promise<void> {
  const { jobName, save } = useEditor.getState()
  underWay = save.kind === 'saving' ? underWay.then((kept) => keepRest(jobName, kept)) : keepNow()
  await underWay
}

const AGAIN_AFTER_MS = 5_000
/** A server that answers, and always that it failed, does so with this drawing: nobody waits for it for ever. */
const MOST_FAILURES = 12

const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/** Sends until the server answers; who would close the tab meanwhile is warned. */
async function insist<T>(jobName: string, send: () => Promise<T>): Promise<T> {
  window.addEventListener('beforeunload', warn)
  try {
    for (let failures = 0; ; failures += 1) {
      try {
        const answered = await send()
        if (failures > 0) answer(true, i18next.t('canvas:save.kept', { job: jobName }))
        return answered
      } catch (error) {
        if (!isUnanswered(error) || (error instanceof ApiError && failures >= MOST_FAILURES)) throw error
      }
      if (failures === 0) answer(false, i18next.t('canvas:save.waits', { job: jobName }))
      await new Promise((done) => setTimeout(done, AGAIN_AFTER_MS))
    }
  } finally {
    window.removeEventListener('beforeunload', warn)
  }
}

/** The editor is being left: what was changed last is taken from it now and sent after the save that may be under way. */
export function saveOnLeaving(): void {
  const { jobName, revision, history, saved, save } = useEditor.getState()
  const { document, layout } = history.present
  const isKept = save.kind === 'conflict' || (save.kind !== 'saving' && document === saved.document && unanswered?.jobName !== jobName)
  if (!jobName || (isKept && layout === saved.layout)) return
  const before = underWay
  const keep = async (): Promise<Kept | null> => {
    const kept = save.kind === 'saving' ? await before : null
    const again = takeUnanswered(jobName)
    const over = again ? (await insist(jobName, () => saveDraft(jobName, again.document, again.revision))).revision : (kept?.revision ?? revision)
    if (!isKept && document !== (again ?? kept ?? saved).document) await insist(jobName, () => saveDraft(jobName, document, over))
    if (layout !== saved.layout) await insist(jobName, () => saveLayout(jobName, layout))
    return null
  }
  underWay = keep().catch((error: Error) => {
    answer(false, i18next.t('canvas:save.lost', { job: jobName, why: error instanceof DraftConflict ? i18next.t('canvas:save.conflict', { by: error.by, revision: error.revision }) : error.message }))
    return null
  })
}
