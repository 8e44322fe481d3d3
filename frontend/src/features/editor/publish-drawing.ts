import i18next from 'i18next'
import { ApiError } from '../../api/request'
import type { DagDocument } from '../../dag/document'
import { worst } from '../../dag/problems'
import { DraftConflict, publishDraft } from './draft-requests'
import { saveNow } from './draft-saving'
import { useEditor, type SaveState } from './editor-store'
import { problemSaid } from './problem-said'
import { saveWords } from './save-words'
import { nameWaits } from './use-parameter-rows'

/** Nothing of the drawing is only here. */
const isSaved = () => {
  const { history, saved, save } = useEditor.getState()
  return save.kind === 'saved' && history.present.document === saved.document
}

function refused(save: SaveState): Error {
  const t = i18next.getFixedT(null, 'canvas')
  return new Error(t('notPublished', { why: saveWords(t, save, useEditor.getState().revision, nameWaits()) }))
}

/** Shows what the server has found in `document`, and tells the worst of it. */
function explained(error: unknown, document: DagDocument): unknown {
  const first = error instanceof ApiError ? worst(error.problems) : undefined
  if (!(error instanceof ApiError) || !first) return error
  if (useEditor.getState().history.present.document === document) useEditor.setState({ problems: error.problems })
  return new Error(`${error.message}: ${problemSaid(first)}`)
}

/** Publishes the drawing on the screen. Throws in words, with nothing published, where the server does not have that one. */
export async function publishDrawing(comment: string): Promise<void> {
  const { jobName, save } = useEditor.getState()
  if (nameWaits()) throw refused(save)
  if (save.kind !== 'conflict' && !isSaved()) await saveNow()
  const now = useEditor.getState()
  if (now.jobName !== jobName || !isSaved()) throw refused(now.save)
  try {
    await publishDraft(jobName, comment, now.revision)
  } catch (error) {
    if (!(error instanceof DraftConflict)) throw explained(error, now.history.present.document)
    const conflict: SaveState = { kind: 'conflict', by: error.by, revision: error.revision }
    useEditor.setState({ save: conflict })
    throw refused(conflict)
  }
}
