import { Button, Loader, Modal, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconChevronLeft, IconChevronRight, IconDownload, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Checkpoint, StateOperator } from '../../api/types'
import { count } from '../numbers'
import { RowsTable } from '../rows-table'
import { readState, readStateRows, stateFile, type StatePlace } from './checkpoint-requests'
import { operatorName, type NodeNames } from './node-names'

const PAGE = 100

interface Props {
  checkpoint: Checkpoint
  names: NodeNames
}

const keyOf = (one: StateOperator) => `${one.query} ${one.operator}`

function Rows({ id, place }: { id: number; place: StatePlace }) {
  const { t } = useTranslation('checkpoints')
  const [starts, setStarts] = useState([0])
  const start = starts.at(-1) ?? 0
  const { data, error, isFetching } = useQuery({
    queryKey: ['state', id, place, start],
    queryFn: ({ signal }) => readStateRows(id, place, start, PAGE, signal),
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  })
  return (
    <>
      {error && <p className="pw-bad pw-12 pw-wrap" role="alert">{error.message}</p>}
      {!data && isFetching && <p className="pw-empty pw-line" role="status"><Loader size={14} /> {t('state.reading')}</p>}
      {data && !error && <div className="pw-kept-rows" data-stale={isFetching || undefined}><RowsTable label={t('state.rows')} columns={data.columns} rows={data.rows} empty={t('state.none')} /></div>}
      <div className="pw-form-acts pw-kept-foot">
        <Button component="a" href={stateFile(id, place)} download leftSection={<IconDownload size={14} />}>{t('state.csv')}</Button>
        <span className="pw-grow" />
        {data && data.rows.length > 0 && <span className="pw-11 pw-3">{t(data.more ? 'state.range' : 'state.rangeOf', { from: count(start + 1), to: count(start + data.rows.length) })}</span>}
        <Button aria-label={t('state.before')} disabled={starts.length === 1} onClick={() => setStarts(starts.slice(0, -1))}><IconChevronLeft size={14} /></Button>
        <Button aria-label={t('state.behind')} disabled={!data?.more || isFetching} onClick={() => setStarts([...starts, start + (data?.rows.length ?? 0)])}><IconChevronRight size={14} /></Button>
      </div>
    </>
  )
}

function Browser({ checkpoint, names, operators }: Props & { operators: readonly StateOperator[] }) {
  const { t } = useTranslation('checkpoints')
  const [chosen, setChosen] = useState(() => operators[0] && keyOf(operators[0]))
  const [wanted, setPart] = useState('')
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, 350)
  const operator = operators.find((one) => keyOf(one) === chosen)
  if (!operator) return <p className="pw-empty">{t('state.stateless')}</p>
  const part = operator.parts.includes(wanted) ? wanted : (operator.parts[0] ?? 'default')
  const place: StatePlace = { query: operator.query, operator: operator.operator, part, q: search.trim() }
  const partWords = (name: string) => (name.startsWith('state.') ? name.slice(6) : t(`state.part.${name}`))
  return (
    <>
      <div className="pw-kept-head">
        <Select label={t('state.operator')} data={operators.map((one) => ({ value: keyOf(one), label: operatorName({ node_id: one.node_id, operator: one.name }, names) }))} value={chosen ?? null} allowDeselect={false} onChange={(value) => setChosen(value ?? undefined)} />
        {operator.parts.length > 1 && <Select label={t('state.variable')} data={operator.parts.map((name) => ({ value: name, label: partWords(name) }))} value={part} allowDeselect={false} onChange={(value) => setPart(value ?? '')} />}
        <TextInput className="pw-grow" label={t('state.search')} leftSection={<IconSearch size={14} />} value={text} onChange={(event) => setText(event.currentTarget.value)} />
        {operator.rows !== null && <span className="pw-11 pw-3 pw-nowrap">{t(operator.parts.length > 1 ? 'state.totalOfParts' : 'state.total', { count: operator.rows, shown: count(operator.rows) })}</span>}
      </div>
      <Rows key={JSON.stringify(place)} id={checkpoint.id} place={place} />
    </>
  )
}

/** What the stateful nodes of a checkpoint remember, key by key. */
export default function StateDialog({ checkpoint, names, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation('checkpoints')
  const { data, error } = useQuery({ queryKey: ['state', checkpoint.id], queryFn: ({ signal }) => readState(checkpoint.id, signal), staleTime: Infinity, gcTime: 60_000, retry: false, refetchOnWindowFocus: false })
  return (
    <Modal opened onClose={onClose} title={t('state.title', { number: checkpoint.checkpoint_id })} size={920}>
      <div className="pw-kept">
        {error && <p className="pw-bad pw-12 pw-wrap" role="alert">{error.message}</p>}
        {!data && !error && <p className="pw-empty pw-line" role="status"><Loader size={14} /> {t('state.reading')}</p>}
        {data && <Browser checkpoint={checkpoint} names={names} operators={data.operators} />}
      </div>
    </Modal>
  )
}
