import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Token } from '../../api/types'
import { DataTable, type Column } from '../../shared/data-table'
import { Failure } from '../../shared/failure'
import { RelativeTime } from '../../shared/relative-time'
import { useAct } from '../../shared/use-act'
import './i18n'
import { NewToken } from './new-token'
import { readTokens, revokeToken } from './token-requests'
import './tokens.css'

/** Asked twice in place: the first press says what happens. */
function Revoke({ token, onDone }: { token: Token; onDone: () => void }) {
  const { t } = useTranslation('tokens')
  const [sure, setSure] = useState(false)
  const [busy, act] = useAct()
  const revoke = () => void act('revoke', { run: () => revokeToken(token.id), done: () => t('revoked', { name: token.name || token.prefix }), after: onDone })
  if (!sure) {
    return (
      <Button size="compact-xs" variant="subtle" color="gray" aria-label={t('revokeOf', { name: token.name || token.prefix })} onClick={() => setSure(true)}>
        {t('revoke')}
      </Button>
    )
  }
  return (
    <span className="pw-acts" title={t('sure')}>
      <Button size="compact-xs" autoFocus onClick={() => setSure(false)}>
        {t('keep')}
      </Button>
      <Button size="compact-xs" className="pw-danger" loading={busy !== null} onClick={revoke}>
        {t('revoke')}
      </Button>
    </span>
  )
}

/** One's own API tokens: make one, see when each was last used, revoke it. */
export default function TokensDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation(['tokens', 'shared'])
  const list = useQuery({ queryKey: ['tokens'], queryFn: readTokens })
  const refetch = () => void list.refetch()
  const columns: Column<Token>[] = [
    { key: 'name', title: t('column.name'), cell: (token) => <span title={token.name}>{token.name || '–'}</span> },
    { key: 'prefix', title: t('column.prefix'), width: 104, cell: (token) => <span className="pw-mono-11 pw-2">{token.prefix}…</span> },
    { key: 'scope', title: t('column.scope'), width: 100, cell: (token) => <span className="pw-12 pw-2">{t(`scope.${token.scope}`)}</span> },
    { key: 'used', title: t('column.used'), width: 96, cell: (token) => (token.last_used_time ? <RelativeTime time={token.last_used_time} /> : <span className="pw-3">{t('never')}</span>) },
    { key: 'created', title: t('column.created'), width: 96, cell: (token) => <RelativeTime time={token.create_time} /> },
    { key: 'acts', title: '', width: 132, numeric: true, cell: (token) => <Revoke token={token} onDone={refetch} /> },
  ]
  return (
    <Modal opened onClose={onClose} title={t('title')} size={720}>
      <p className="pw-help pw-token-help">{t('help')}</p>
      <NewToken onMade={refetch} />
      {list.error && <Failure error={list.error} what={t('title')} retry={refetch} />}
      <div className="pw-tokens">
        {list.data?.length === 0 ? <p className="pw-empty">{t('none')}</p> : !list.error && <DataTable label={t('title')} columns={columns} rows={list.data} keyOf={(token) => token.id} loading={list.isPending} />}
      </div>
    </Modal>
  )
}
