import { Button } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { answer } from '../../shared/answers'
import { later } from '../../shared/later'
import { Notice } from '../../shared/notice'
import { copyDrawing, takeTheirs } from './draft-requests'
import { saveNow } from './draft-saving'
import { useEditor } from './editor-store'

const ConflictDifference = later(() => import('./versions/conflict-difference'))

/** Somebody else saved first: whose drawing stays is asked over the canvas until it is answered. */
export function ConflictNote() {
  const { t } = useTranslation('canvas')
  const save = useEditor((state) => state.save)
  const [comparing, setComparing] = useState(false)
  const [acting, setActing] = useState(false)
  if (save.kind !== 'conflict') return null
  const overwrite = () => {
    useEditor.setState({ revision: save.revision })
    void saveNow()
  }
  const act = (what: () => Promise<void>) => {
    setActing(true)
    void what()
      .catch((error: Error) => answer(false, error.message))
      .finally(() => setActing(false))
  }
  const copy = async () => {
    const name = await copyDrawing()
    answer(true, t('save.copied', { job: name }), { words: t('imported.open'), to: `/jobs/${encodeURIComponent(name)}` })
    await takeTheirs()
  }
  return (
    <>
      <div className="pw-conflict" role="alert">
        <Notice
          glyph="warning"
          title={t('save.conflictTitle', { by: save.by, revision: save.revision })}
          acts={
            <>
              <Button onClick={() => setComparing(true)}>{t('save.compare')}</Button>
              <Button disabled={acting} onClick={() => act(takeTheirs)}>
                {t('save.takeTheirs')}
              </Button>
              <Button disabled={acting} onClick={() => act(copy)}>
                {t('save.copy')}
              </Button>
              <Button className="pw-danger" disabled={acting} onClick={overwrite}>
                {t('save.overwrite')}
              </Button>
            </>
          }
        >
          {t('save.conflictHelp')}
        </Notice>
      </div>
      {comparing && (
        <Suspense>
          <ConflictDifference revision={save.revision} onClose={() => setComparing(false)} />
        </Suspense>
      )}
    </>
  )
}
