import { Loader, Modal } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { readKinds } from '../../api/read-kinds'
import { said } from '../../api/sentences/said'
import type { Connection, ConnectionKind } from '../../api/types'
import { useConnectionAsked, type ConnectionAsked } from '../../shared/connection-asked'
import { later } from '../../shared/later'
import { Notice } from '../../shared/notice'
import { whileWritten } from '../../shared/while-written'
import { kindTitle } from '../canvas/field-words'
import './connections.css'
import './i18n'
import { KindChoice } from './kind-choice'

const ConnectionForm = later(async () => ({ default: (await import('./connection-form')).ConnectionForm }))

const close = () => useConnectionAsked.setState({ asked: null })

function AskedForm({ asked, onWritten }: { asked: ConnectionAsked; onWritten: (isWritten: boolean) => void }) {
  const { t } = useTranslation('connections')
  const { data, error } = useQuery({ queryKey: ['connection-kinds'], queryFn: readKinds, staleTime: 600_000 })
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<ConnectionKind | null>(null)
  const kinds = data?.filter((one) => asked.kinds.length === 0 || asked.kinds.includes(one.kind)) ?? []
  const kind = chosen ?? (kinds.length === 1 ? kinds[0] : undefined)
  const saved = ({ name }: Connection) => {
    close()
    void queries.invalidateQueries({ queryKey: ['connections'] })
    asked.after(name)
  }
  if (error) return <Notice glyph="failed" title={error.message} />
  if (!data) return <Loader size={16} />
  if (!kind && kinds.length > 0) return <KindChoice kinds={kinds} onChoose={setChosen} />
  if (!kind?.available) {
    const title = t('asked.none', { kind: kind ? kindTitle(kind) : asked.kinds.join(', ') })
    return <Notice glyph="warning" title={title}>{said(kind?.unavailable_reason ?? '')}</Notice>
  }
  return <ConnectionForm kind={kind} connection={null} begin={asked} onSaved={saved} onWritten={onWritten} onCancel={close} />
}

/** The form of a connection that another page proposes, filled in as far as it is known. */
export default function AskedConnection({ asked }: { asked: ConnectionAsked }) {
  const { t } = useTranslation('connections')
  const [isWritten, setWritten] = useState(false)
  return (
    <Modal opened onClose={close} {...whileWritten(isWritten)} title={asked.name ? t('asked.title', { name: asked.name }) : t('new.act')} size={460}>
      <Suspense fallback={<Loader size={16} />}>
        <AskedForm asked={asked} onWritten={setWritten} />
      </Suspense>
    </Modal>
  )
}
