import { useTranslation } from 'react-i18next'
import { LeaveDialog as Asking } from '../../shared/leave-dialog'
import { useEditor } from './editor-store'
import { saveWords } from './save-words'
import { nameWaits, useNameWaits } from './use-parameter-rows'

/** Leaving would lose what was drawn: another save is not going to bring it to the server, or not the name of a parameter. */
const wouldLose = () => {
  const { save, history, saved } = useEditor.getState()
  return nameWaits() || ((save.kind === 'conflict' || save.kind === 'failed') && history.present.document !== saved.document)
}

/** Asks before the editor is left while what was drawn is not saved. */
export function LeaveDialog() {
  const { t } = useTranslation('canvas')
  const save = useEditor((state) => state.save)
  const revision = useEditor((state) => state.revision)
  const unnamed = useNameWaits()
  return <Asking needed={wouldLose} why={saveWords(t, save, revision, unnamed)} />
}
