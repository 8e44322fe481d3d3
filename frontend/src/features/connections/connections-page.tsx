import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { readKinds } from '../../api/read-kinds'
import type { Connection, ConnectionKind } from '../../api/types'
import { useMay } from '../../api/use-may'
import { kindTitle } from '../canvas/field-words'
import { connectionPlace } from '../../shared/connection-place'
import { DataTable, type Column } from '../../shared/data-table'
import { Failure } from '../../shared/failure'
import { FilterMenu } from '../../shared/filter-menu'
import { NoProject } from '../../shared/no-project'
import { leavePage } from '../../shared/leaving'
import { Notice } from '../../shared/notice'
import { RelativeTime } from '../../shared/relative-time'
import { SearchField } from '../../shared/search-field'
import { useUrlState } from '../../shared/url-state'
import { useIsWithoutProject } from '../../shared/use-is-without-project'
import { readConnections } from './connection-requests'
import './connections.css'
import { HealthWords } from './health-words'
import './i18n'
import { KindIcon } from './kind-icon'

const ConnectionPanel = lazy(() => import('./connection-panel'))
const NewConnection = lazy(() => import('./new-connection'))

const titleOf = (kind: ConnectionKind | undefined, word: string) => (kind ? kindTitle(kind) : word)

/** With one of them open at the side, what its panel says leaves room for where the others are. */
function useColumns(kinds: ReadonlyMap<string, ConnectionKind>, beside: boolean): Column<Connection>[] {
  const { t } = useTranslation('connections')
  return useMemo(
    () => {
      const columns: Column<Connection>[] = [
        { key: 'name', title: t('column.name'), width: beside ? 190 : 230, cell: (row) => <span className="pw-connection-name" title={row.description || row.name}>{row.name}</span> },
        { key: 'kind', title: t('column.kind'), width: 156, cell: (row) => <span className="pw-line pw-12 pw-2"><KindIcon icon={kinds.get(row.kind)?.icon ?? ''} /><span className="pw-cut">{titleOf(kinds.get(row.kind), row.kind)}</span></span> },
        { key: 'place', title: t('column.place'), cell: (row) => <span className="pw-mono-11 pw-2" title={connectionPlace(row)}>{connectionPlace(row)}</span> },
        { key: 'used', title: t('column.used'), width: 92, numeric: true, cell: (row) => t('jobs', { count: row.used_by.length }) },
        { key: 'health', title: t('column.health'), width: beside ? 250 : 330, cell: (row) => <HealthWords connection={row} /> },
        { key: 'changed', title: t('column.changed'), width: 112, numeric: true, cell: (row) => <RelativeTime time={row.update_time} /> },
      ]
      return beside ? columns.filter(({ key }) => key !== 'used' && key !== 'changed') : columns
    },
    [t, kinds, beside],
  )
}

/** The systems that jobs read and write: list, form, test. */
export default function ConnectionsPage() {
  const { t } = useTranslation(['connections', 'shared'])
  const [q, setQ] = useUrlState('q')
  const [kind, setKind] = useUrlState('kind')
  const [chosen, setChosen] = useUrlState('connection')
  const choose = (id: number) => leavePage(() => setChosen(String(id) === chosen ? '' : String(id)))
  const [creating, setCreating] = useUrlState('new')
  const list = useQuery({ queryKey: ['connections'], queryFn: readConnections })
  const kinds = useQuery({ queryKey: ['connection-kinds'], queryFn: readKinds, staleTime: 600_000 })
  const byKind = useMemo(() => new Map((kinds.data ?? []).map((one) => [one.kind, one])), [kinds.data])
  const rows = list.data?.filter((row) => (!kind || row.kind === kind) && `${row.name} ${row.description} ${connectionPlace(row)}`.toLowerCase().includes(q.toLowerCase()))
  const selected = list.data?.find((row) => String(row.id) === chosen)
  const columns = useColumns(byKind, selected !== undefined)
  const queries = useQueryClient()
  // The forms of nodes offer their names too.
  const refetch = () => void queries.invalidateQueries({ queryKey: ['connections'] })
  const all = { value: '', label: t('shared:all') }
  const edits = useMay()('EDITOR')
  const alone = useIsWithoutProject()
  const act = edits && (
    <Button variant="filled" leftSection={<IconPlus size={14} />} onClick={() => setCreating('1')}>
      {t('new.act')}
    </Button>
  )
  return (
    <main className="pw-with-drawer pw-full">
      <div className="pw-page pw-grow">
        <div className="pw-head">
          <h1>{t('title')}</h1>
          {list.data && <span className="pw-12 pw-3">{t('shown', { count: list.data.length })}</span>}
          <span className="pw-grow" />
          {act}
        </div>
        <div className="pw-filters">
          <SearchField value={q} onChange={setQ} label={t('search')} />
          <FilterMenu label={t('column.kind')} value={kind} onChange={setKind} options={[all, ...[...byKind.values()].map((one) => ({ value: one.kind, label: kindTitle(one) }))]} />
        </div>
        {list.error && <Failure error={list.error} what={t('title')} retry={refetch} />}
        <div className="pw-table-wrap pw-grow">
          {rows?.length !== 0 && !(list.error && !rows) && <DataTable label={t('title')} columns={columns} rows={rows} keyOf={(row) => row.id} loading={list.isPending} selected={selected?.id ?? null} onRow={(row) => choose(row.id)} />}
          {rows?.length === 0 && (alone ? <NoProject /> : q || kind ? <Notice page title={t('noneFound')} /> : <Notice page title={t('none')} acts={act}>{t('noneHelp')}</Notice>)}
        </div>
      </div>
      <Suspense>
        {selected && <ConnectionPanel connection={selected} kind={byKind.get(selected.kind)} onClose={() => setChosen('')} onChange={refetch} />}
        {creating && edits && <NewConnection kinds={kinds.data ?? []} onClose={() => setCreating('')} onSaved={(made) => { refetch(); setCreating(''); choose(made.id) }} />}
      </Suspense>
    </main>
  )
}
