import { Button, Modal, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DeletionItem } from '../../../api/types'
import { Failure } from '../../failure'
import { count } from '../../numbers'
import { SkeletonBar } from '../../skeleton'
import { useAct } from '../../use-act'
import { whileWritten } from '../../while-written'
import { SizeFigure } from '../size-figure'
import './deletion.css'
import { deleteMany } from './deletion-requests'
import './i18n'

const MOST_NAMED = 200

const whyOf = (t: TFunction<'deletion'>, { needs, refusal }: DeletionItem): string => (needs.length > 0 ? needs.map((need) => t(`need.${need.kind}`, { execution: need.execution.slice(0, 8) })).join(', ') : t(`refused.${refusal}`))

/** Which ones, by job and number, and why each is named. */
function Named({ title, items }: { title: string; items: readonly DeletionItem[] }) {
  const { t } = useTranslation('deletion')
  if (items.length === 0) return null
  return (
    <section className="pw-deletion-part">
      <h3>{title}</h3>
      <div className="pw-deletion-rows" role="region" aria-label={title} tabIndex={0}>
        <table>
          <tbody>
            {items.slice(0, MOST_NAMED).map((one) => (
              <tr key={one.checkpoint}>
                <th scope="row" className="pw-mono">{one.job_name ?? '–'}</th>
                <td className="pw-mono">{count(one.checkpoint_id ?? one.checkpoint)}</td>
                <td>{whyOf(t, one)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {items.length > MOST_NAMED && <p className="pw-11 pw-3">{t('more', { count: items.length - MOST_NAMED })}</p>}
      </div>
    </section>
  )
}

interface Props {
  ids: readonly number[]
  onClose: () => void
  onDone: () => void
}

/** What needs which of them is asked first; what something needs goes for a reason only. */
export default function DeletionDialog({ ids, onClose, onDone }: Props) {
  const { t } = useTranslation(['deletion', 'shared'])
  const [reason, setReason] = useState('')
  const [through, setThrough] = useState(0)
  const [busy, act] = useAct()
  const asked = useQuery({ queryKey: ['deletion', ids], queryFn: () => deleteMany(ids, { reason: '', dryRun: true }), gcTime: 0, staleTime: 0, retry: false, refetchOnWindowFocus: false })
  const items = asked.data ?? []
  const free = items.filter((one) => one.refusal === '')
  const needed = items.filter((one) => one.refusal === 'REASON')
  const stays = items.filter((one) => one.refusal !== '' && one.refusal !== 'REASON')
  const going = free.length + needed.length
  const said = reason.trim()
  const remove = async (chosen: readonly DeletionItem[]) => {
    setThrough(0)
    const run = () => deleteMany(chosen.map((one) => one.checkpoint), { reason: said, dryRun: false, onProgress: setThrough })
    const done = (found: DeletionItem[]) => {
      const stayed = found.filter((one) => one.refusal !== '').length
      return [t('done', { count: found.length - stayed }), stayed > 0 && t('stayed', { count: stayed })].filter(Boolean).join(', ')
    }
    const went = await act('delete', { run, done })
    onDone() // also after a failure half way: some went
    if (went) onClose()
  }
  return (
    <Modal opened onClose={onClose} {...whileWritten(reason !== '')} title={t('title', { count: ids.length })} size={560}>
      <div className="pw-deletion">
        <p className="pw-help">{t('help')}</p>
        {asked.isPending && <div role="status" aria-label={t('asking')}><SkeletonBar width={280} /></div>}
        {asked.error && <Failure error={asked.error} what={t('title', { count: ids.length })} retry={() => void asked.refetch()} />}
        {asked.data && (
          <p className="pw-12">
            {going === 0 ? t('none') : <>{free.length > 0 && `${t('free', { count: free.length })} `}{t('frees')} <SizeFigure value={items.reduce((sum, one) => sum + one.bytes, 0)} /></>}
          </p>
        )}
        <Named title={t('needed', { count: needed.length })} items={needed} />
        <Named title={t('stays', { count: stays.length })} items={stays} />
        {going > 0 && <Textarea data-autofocus label={t(needed.length > 0 ? 'reasonNeeded' : 'reason')} description={t('reasonHelp')} required={needed.length > 0} rows={3} maxLength={500} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />}
        <div className="pw-form-acts">
          {busy !== null && going > 100 && <span className="pw-12 pw-2 pw-grow" role="status">{t('deleting', { done: through, all: going })}</span>}
          <Button onClick={onClose}>{t('shared:cancel')}</Button>
          {needed.length > 0 && free.length > 0 && (
            <Button disabled={busy !== null} onClick={() => void remove(free)}>
              {t('others', { count: free.length })}
            </Button>
          )}
          {going > 0 && (
            <Button className="pw-danger" disabled={needed.length > 0 && said === ''} loading={busy !== null} onClick={() => void remove([...free, ...needed])}>
              {t('all', { count: going })}
            </Button>
          )}
        </div>
      </div>
    </Modal>
  )
}
