import { Modal } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Connection, ConnectionKind } from '../../api/types'
import { whileWritten } from '../../shared/while-written'
import { kindTitle } from '../canvas/field-words'
import { ConnectionForm } from './connection-form'
import { KindChoice } from './kind-choice'

/** First the kind, then its form. */
export default function NewConnection({ kinds, onClose, onSaved }: { kinds: readonly ConnectionKind[]; onClose: () => void; onSaved: (connection: Connection) => void }) {
  const { t } = useTranslation('connections')
  const [kind, setKind] = useState<ConnectionKind | null>(null)
  const [isWritten, setWritten] = useState(false)
  return (
    <Modal opened onClose={onClose} {...whileWritten(isWritten)} title={kind ? t('new.of', { kind: kindTitle(kind) }) : t('new.title')} size={460}>
      {kind ? <ConnectionForm kind={kind} connection={null} onSaved={onSaved} onWritten={setWritten} onCancel={onClose} /> : <KindChoice kinds={kinds} onChoose={setKind} />}
    </Modal>
  )
}
