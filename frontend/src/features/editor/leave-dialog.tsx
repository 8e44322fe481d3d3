import { Button, Modal } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { holdPage } from '../../shared/leaving'
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
  const [goOn, setGoOn] = useState<(() => void) | null>(null)
  const save = useEditor((state) => state.save)
  const revision = useEditor((state) => state.revision)
  const unnamed = useNameWaits()
  useEffect(() => holdPage({ needed: wouldLose, ask: (go) => setGoOn(() => go) }), [])
  if (!goOn) return null
  const stay = () => setGoOn(null)
  return (
    <Modal opened onClose={stay} title={t('leave.title')} size={420}>
      <p className="pw-wrap">{saveWords(t, save, revision, unnamed)}</p>
      <p className="pw-help">{t('leave.help')}</p>
      <div className="pw-form-acts">
        <Button data-autofocus onClick={stay}>
          {t('leave.stay')}
        </Button>
        <Button
          className="pw-danger"
          onClick={() => {
            stay()
            goOn()
          }}
        >
          {t('leave.goOn')}
        </Button>
      </div>
    </Modal>
  )
}
