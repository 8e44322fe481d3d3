import { Button, Modal } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { holdPage } from './leaving'

/** Asks before what is shown is left while leaving would lose something; `why` in words, where there is more to say than that. */
export function LeaveDialog({ needed, why = '' }: { needed: () => boolean; why?: string }) {
  const { t } = useTranslation('shared')
  const [goOn, setGoOn] = useState<(() => void) | null>(null)
  useEffect(() => holdPage({ needed, ask: (go) => setGoOn(() => go) }), [needed])
  if (!goOn) return null
  const stay = () => setGoOn(null)
  return (
    <Modal opened onClose={stay} title={t('leave.title')} size={420}>
      {why && <p className="pw-wrap">{why}</p>}
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
