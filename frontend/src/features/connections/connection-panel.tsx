import { ActionIcon, Button, Modal } from '@mantine/core'
import { IconTrash, IconX } from '@tabler/icons-react'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { said } from '../../api/sentences/said'
import type { Connection, ConnectionKind } from '../../api/types'
import { useMay } from '../../api/use-may'
import { LeaveDialog } from '../../shared/leave-dialog'
import { leavePage } from '../../shared/leaving'
import { useAct } from '../../shared/use-act'
import { kindTitle } from '../canvas/field-words'
import { ConnectionForm } from './connection-form'
import { deleteConnection } from './connection-requests'
import { HealthWords } from './health-words'

interface Props {
  connection: Connection
  kind: ConnectionKind | undefined
  onClose: () => void
  onChange: () => void
}

function DeleteDialog({ connection, onClose, onDone }: { connection: Connection; onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation(['connections', 'shared'])
  const [busy, act] = useAct()
  return (
    <Modal opened onClose={onClose} title={t('delete.title', { name: connection.name })} size={400}>
      <p className="pw-help">{t('delete.help')}</p>
      <div className="pw-form-acts">
        <Button data-autofocus onClick={onClose}>
          {t('shared:cancel')}
        </Button>
        <Button className="pw-danger" loading={busy !== null} onClick={() => void act('delete', { run: () => deleteConnection(connection.id), done: () => t('delete.done', { name: connection.name }), after: onDone }).then((gone) => gone || onClose())}>
          {t('delete.confirm')}
        </Button>
      </div>
    </Modal>
  )
}

/** One connection: its form, its test, and who uses it. */
export default function ConnectionPanel({ connection, kind, onClose, onChange }: Props) {
  const { t } = useTranslation(['connections', 'shared'])
  const [deleting, setDeleting] = useState(false)
  const [isWritten, setWritten] = useState(false)
  const needed = useCallback(() => isWritten, [isWritten])
  const edits = useMay()('EDITOR', connection.project)
  return (
    <aside className="pw-connection" aria-label={connection.name}>
      <div className="pw-connection-head">
        <b className="pw-cut pw-grow" title={connection.name}>
          {connection.name}
        </b>
        <span className="pw-chip">{kind ? kindTitle(kind) : connection.kind}</span>
        {edits && (
          <ActionIcon variant="subtle" color="gray" aria-label={t('delete.act')} disabled={connection.used_by.length > 0} title={connection.used_by.length > 0 ? t('delete.used') : t('delete.act')} onClick={() => setDeleting(true)}>
            <IconTrash size={14} />
          </ActionIcon>
        )}
        <ActionIcon variant="subtle" color="gray" aria-label={t('shared:close')} onClick={() => leavePage(onClose)}>
          <IconX size={16} />
        </ActionIcon>
      </div>
      <div className="pw-connection-body">
        {(!edits || !kind?.available) && (
          <div className="pw-test">
            <HealthWords connection={connection} />
          </div>
        )}
        {kind?.available ? <ConnectionForm key={connection.id} kind={kind} connection={connection} readOnly={!edits} onSaved={onChange} onTested={onChange} onOutdated={onChange} onWritten={setWritten} onCancel={onClose} /> : <p className="pw-help">{said(kind?.unavailable_reason ?? '') || t('unknownKind', { kind: connection.kind })}</p>}
        <section className="pw-used">
          <h3>{t('usedBy', { count: connection.used_by.length })}</h3>
          {connection.used_by.map((job) => (
            <Link key={job} to={`/jobs/${encodeURIComponent(job)}`} className="pw-link pw-mono-11 pw-cut">
              {job}
            </Link>
          ))}
        </section>
      </div>
      <LeaveDialog needed={needed} />
      {deleting && <DeleteDialog connection={connection} onClose={() => setDeleting(false)} onDone={() => { setDeleting(false); onClose(); onChange() }} />}
    </aside>
  )
}
