import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { answer } from '../../shared/answers'
import { Notice } from '../../shared/notice'
import { reloadDraft } from './draft-requests'
import { saveNow } from './draft-saving'
import { useEditor } from './editor-store'

/** Somebody else saved first: whose drawing stays is asked over the canvas until it is answered. */
export function ConflictNote() {
  const { t } = useTranslation('canvas')
  const save = useEditor((state) => state.save)
  if (save.kind !== 'conflict') return null
  const overwrite = () => {
    useEditor.setState({ revision: save.revision })
    void saveNow()
  }
  const takeTheirs = () => void reloadDraft().catch((error: Error) => answer(false, error.message))
  return (
    <div className="pw-conflict" role="alert">
      <Notice
        glyph="warning"
        title={t('save.conflictTitle', { by: save.by, revision: save.revision })}
        acts={
          <>
            <Button onClick={takeTheirs}>{t('save.takeTheirs')}</Button>
            <Button className="pw-danger" onClick={overwrite}>
              {t('save.overwrite')}
            </Button>
          </>
        }
      >
        {t('save.conflictHelp')}
      </Notice>
    </div>
  )
}
