import i18next from 'i18next'
import { DraftConflict, publishDraft } from './draft-requests'
import { saveNow } from './draft-saving'
import { useEditor, type SaveState } from './editor-store'
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
    if (!(error instanceof DraftConflict)) throw error
    const conflict: SaveState = { kind: 'conflict', by: error.by, revision: error.revision }
    useEditor.setState({ save: conflict })
    throw refused(conflict)
  }
}
