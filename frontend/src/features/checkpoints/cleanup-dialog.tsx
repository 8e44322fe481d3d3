import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { CleanupItem } from '../../api/types'
import { cleanUp } from '../../shared/checkpoints/checkpoint-requests'
import { SizeFigure } from '../../shared/checkpoints/size-figure'
import { DataTable, type Column } from '../../shared/data-table'
import { Failure } from '../../shared/failure'
import { Notice } from '../../shared/notice'
import { SkeletonBar } from '../../shared/skeleton'
import { useAct } from '../../shared/use-act'

/** The dry run first: what goes, why, and what it frees; then the same for real. */
export function CleanupDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const [busy, act] = useAct()
  const dry = useQuery({ queryKey: ['cleanup'], queryFn: () => cleanUp(true), gcTime: 0, staleTime: 0, refetchOnWindowFocus: false })
  const items = dry.data?.results ?? []
  const going = items.filter((item) => item.action === 'delete')
  const freed = going.reduce((sum, item) => sum + item.bytes, 0)
  const columns: Column<CleanupItem>[] = [
    { key: 'job', title: t('cleanup.job'), width: 200, cell: (item) => <span className="pw-mono">{item.job_name ?? t('cleanup.orphan')}</span> },
    { key: 'number', title: t('cleanup.number'), width: 80, numeric: true, cell: (item) => <span className="pw-mono">{item.checkpoint_id ?? item.checkpoint ?? '–'}</span> },
    { key: 'reason', title: t('cleanup.reason'), cell: (item) => <span title={item.reason}>{item.reason}</span> },
    { key: 'size', title: t('cleanup.size'), width: 92, numeric: true, cell: (item) => <SizeFigure value={item.bytes} /> },
  ]
  const confirm = async () => {
    const cleaned = await act('clean', { run: () => cleanUp(false), done: (result) => t('cleanup.done', { count: result.results.filter((item) => item.action === 'delete').length }), after: onDone })
    if (cleaned) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('cleanup.title')} size={680}>
      <p className="pw-help">{t('cleanup.help')}</p>
      {dry.isPending && <SkeletonBar width={280} />}
      {dry.error && <Failure error={dry.error} what={t('cleanup.title')} retry={() => void dry.refetch()} />}
      {dry.data && going.length === 0 && <Notice title={t('cleanup.none')}>{t('cleanup.noneHelp')}</Notice>}
      {going.length > 0 && (
        <>
          <p className="pw-12">
            {t('cleanup.go', { count: going.length, kept: items.length - going.length })}, {t('cleanup.frees')} <SizeFigure value={freed} />
          </p>
          <div className="pw-table-wrap pw-cleanup">
            <DataTable label={t('cleanup.title')} columns={columns} rows={going} keyOf={(item) => `${item.checkpoint ?? ''}${item.reason}${item.bytes}`} />
          </div>
        </>
      )}
      <div className="pw-form-acts">
        <Button onClick={onClose}>{t('shared:close')}</Button>
        {going.length > 0 && (
          <Button className="pw-danger" loading={busy !== null} onClick={() => void confirm()}>
            {t('cleanup.confirm', { count: going.length })}
          </Button>
        )}
      </div>
    </Modal>
  )
}
