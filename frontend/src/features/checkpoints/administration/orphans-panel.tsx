import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Orphan } from '../../../api/types'
import { SizeFigure } from '../../../shared/checkpoints/size-figure'
import { DataTable, type Column } from '../../../shared/data-table'
import { Failure } from '../../../shared/failure'
import { MoreRows } from '../../../shared/more-rows'
import { Notice } from '../../../shared/notice'
import { count, duration } from '../../../shared/numbers'
import { RelativeTime } from '../../../shared/relative-time'
import './cleaning.css'
import { useOrphans } from './cleaning-requests'
import './i18n'
import { Place } from './place'

function Grace({ orphan, t }: { orphan: Orphan; t: TFunction<'cleaning'> }) {
  if (orphan.marked) return <span className="pw-bad">{t('orphan.marked')}</span>
  if (orphan.grace_ends === null) return <span className="pw-3">{t('orphan.never')}</span>
  if (orphan.due) return t(orphan.kind === 'NO_FILES' ? 'orphan.mark' : 'orphan.ready')
  return <span className="pw-2">{t('orphan.wait')} <RelativeTime time={orphan.grace_ends} /></span>
}

/** What lies about that no checkpoint needs, young ones too, and checkpoints whose files are gone; the oldest first. */
export default function OrphansPanel({ kind, onKind }: { kind: string; onKind: (kind: string) => void }) {
  const { t } = useTranslation('cleaning')
  const list = useOrphans({ kind })
  const columns: Column<Orphan>[] = [
    { key: 'kind', title: t('column.kind'), width: 216, cell: (one) => <span className="pw-cut" title={t(`orphan.kind.${one.kind}`)}>{t(`orphan.kind.${one.kind}`)}</span> },
    { key: 'job', title: t('column.job'), width: 220, cell: (one) => (one.job_name ? <span className="pw-mono pw-cut" title={one.job_name}>{one.job_name}{one.checkpoint_id !== null && ` · ${count(one.checkpoint_id)}`}</span> : <span className="pw-3">{t('orphan.outside')}</span>) },
    { key: 'path', title: t('column.path'), cell: (one) => <Place path={one.path} /> },
    { key: 'size', title: t('column.size'), width: 92, numeric: true, cell: (one) => <SizeFigure value={one.kind === 'NO_FILES' ? null : one.bytes} /> },
    { key: 'changed', title: t('column.changed'), width: 112, numeric: true, cell: (one) => <RelativeTime time={one.changed} /> },
    { key: 'grace', title: t('column.grace'), width: 214, cell: (one) => <Grace orphan={one} t={t} /> },
  ]
  if (list.error && !list.rows) return <Failure error={list.error} what={t('orphan.title')} retry={list.refetch} />
  const kinds = list.facts?.kinds ?? []
  const isEmpty = list.facts !== undefined && kinds.length === 0
  return (
    <>
      {!isEmpty && (
        <div className="pw-reason-lines">
          <div className="pw-reasons" role="group" aria-label={t('filter.kind')}>
            {kinds.map((one) => (
              <button key={one.kind} type="button" className="pw-reason" aria-pressed={kind === one.kind} onClick={() => onKind(kind === one.kind ? '' : one.kind)}>
                {t(`orphan.kind.${one.kind}`)} <span>{count(one.count)}</span>
              </button>
            ))}
          </div>
          {list.facts && <span className="pw-12 pw-3 pw-reason-next">{t('orphan.help', { grace: duration(list.facts.grace * 1000) })} <RelativeTime time={list.facts.next_run} /></span>}
        </div>
      )}
      <div className="pw-table-wrap pw-grow" data-stale={list.stale || undefined}>
        {list.rows?.length !== 0 && <DataTable label={t('orphan.title')} columns={columns} rows={list.rows} keyOf={(one) => `${one.storage} ${one.path}`} loading={list.loading} />}
        {list.rows?.length === 0 && <Notice page title={t(isEmpty ? 'orphan.none' : 'orphan.noneFit')}>{isEmpty && t('orphan.noneHelp')}</Notice>}
        <MoreRows list={list} />
      </div>
    </>
  )
}
