import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { expect, it, vi } from 'vitest'
import type { Checkpoint, CheckpointDetailFacts, SourcePosition } from '../../api/types'
import { CheckpointDetail } from './checkpoint-detail'

vi.mock('./i18n', () => ({}))
vi.mock('./parts/i18n', () => ({}))
vi.mock('./one/i18n', () => ({}))
vi.mock('./travel/i18n', () => ({}))
vi.mock('../../api/use-may', () => ({ useMay: () => () => true }))

const query = { batch_id: 746, sinks: ['t'], files: 41, bytes: 9000, watermark_ms: Date.UTC(2026, 0, 1) }
const good = {
  id: 122, checkpoint_id: 12, execution_id: 'e0000000-1', generation: 'g0000000', job_name: 'agg', job_title: 'Aggregate', project: 'default', attempt: 1, status: 'COMPLETED', origin: 'INTERVAL', requested_by: '', label: '', pinned: false, is_savepoint: false,
  storage: 'local', storage_path: '/data/12', storage_size_bytes: 10_000, exclusive_bytes: 100, rows_read: 5, backlog: 17, file_count: 42, phases: {}, queries: { t: query }, operators: [], state_data: {}, failure_reason: '', create_time: '2026-01-01T10:00:00Z', complete_time: '2026-01-01T10:00:01Z', delete_time: null, deleted_by: '', duration_ms: 1000, restorable: true, restorable_reason: '', source: null, checkpoint_type: 'STREAMING',
} as Checkpoint
const facts: CheckpointDetailFacts = { ...good, restored_by: [], restored_by_more: 0, delete_reason: '', nearest_good: null, node_names: { g: 'Generated' } }
const stateful: SourcePosition = { node_id: 'g', name: 'Generated', type: 'source.generator', position: {}, values: {}, ways: [], refused: '"Sum" keeps state, which was made of the rows up to here and of no others' }

function opened(checkpoint: Checkpoint, more: Partial<CheckpointDetailFacts> = {}, positions: SourcePosition[] = [stateful]) {
  const server = vi.fn<typeof fetch>((path) => {
    const asked = String(path)
    if (asked.includes('/files?')) return Promise.resolve(new Response(JSON.stringify({ count: 1, bytes: 44, results: [{ path: 't/offsets/746', bytes: 44, sha256: 'ab12' }] })))
    return Promise.resolve(new Response(JSON.stringify(asked.endsWith('/positions') ? { results: positions } : { ...facts, ...checkpoint, ...more })))
  })
  vi.stubGlobal('fetch', server)
  return render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <MemoryRouter>
          <CheckpointDetail checkpoint={checkpoint} onClose={vi.fn()} onChange={vi.fn()} />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
}

it('calls operators and sources what the drawing calls them, and by their id where that is gone', async () => {
  const operators = ['g', 'old'].map((node_id) => ({ query: 't', node_id, operator: 'dedupe', rows: 1, bytes: 2 }))
  opened({ ...good, operators, state_data: { sources: { g: { next: 5 } } } })
  expect(await screen.findByRole('rowheader', { name: 'Generated' })).toBeVisible()
  expect(screen.getByRole('rowheader', { name: 'Generated · next' })).toBeVisible()
  expect(screen.getByRole('rowheader', { name: 'old' })).toBeVisible()
})

const reason = 'it is damaged: t/state/0/0/690.changelog is damaged: its checksum does not fit'

it('tells damage once, under a badge of its own, with the way to the nearest good one', async () => {
  opened({ ...good, restorable: false, failure_reason: reason, restorable_reason: reason }, { nearest_good: { id: 121, checkpoint_id: 11, execution_id: 'e0000000-1', create_time: '2026-01-01T09:59:00Z' } })
  expect(screen.getByText('DAMAGED')).toBeVisible()
  expect(screen.queryByText('COMPLETED')).toBeNull()
  expect(screen.getAllByText('damage.checksum')).toHaveLength(1)
  expect(screen.queryByText(reason)).toBeNull()
  expect(await screen.findByRole('link', { name: 'nearest' })).toHaveAttribute('href', '/executions/e0000000-1?tab=checkpoints&checkpoint=121')
  expect(screen.queryByRole('button', { name: 'restore.act' })).toBeNull()
})

it('shows each query with batch, files, bytes and watermark', () => {
  opened(good)
  expect(screen.getByText('746')).toBeVisible()
  expect(screen.getByText('41')).toBeVisible()
  expect(screen.getByText(/^watermark 202[56]-/)).toBeVisible()
})

it('shows a row of older days, which has no such figures', () => {
  opened({ ...good, queries: { t: { batch_id: 746, sinks: ['t'], files: null, bytes: null, watermark_ms: null } } })
  expect(screen.getByText('746')).toBeVisible()
  expect(screen.queryByText(/watermark/)).toBeNull()
})

it('tells what waited at its sources, where they can tell', () => {
  const { unmount } = opened(good)
  expect(screen.getByText('compare.backlog').nextSibling).toHaveTextContent('17')
  unmount()
  opened({ ...good, backlog: null })
  expect(screen.queryByText('compare.backlog')).toBeNull()
})

it('names what started from it, and what deleted it and why', async () => {
  const restore = { execution_id: 'f1111111-2', version: 3, status: 'RUNNING', created_by: 'olga', create_time: '2026-01-02T10:00:00Z', in_place: false }
  opened({ ...good, status: 'EXPIRED', restorable: false, delete_time: '2026-01-03T02:00:00Z', deleted_by: 'retention' }, { restored_by: [restore], delete_reason: 'older than the newest 10' })
  expect(await screen.findByRole('link', { name: 'f1111111' })).toHaveAttribute('href', '/executions/f1111111-2')
  expect(screen.getByText(/reason.newest/)).toBeVisible()
})

it('does not offer other positions where none can be set, and says why', async () => {
  opened(good)
  fireEvent.click(screen.getByRole('button', { name: 'otherWays' }))
  expect(await screen.findByText('refused.state')).toBeVisible()
  expect(screen.getByRole('menuitem', { name: /travel.positions/ })).toBeDisabled()
})

it('offers them where one source can be set', async () => {
  opened(good, {}, [stateful, { ...stateful, ways: ['earliest'], refused: '' }])
  fireEvent.click(screen.getByRole('button', { name: 'otherWays' }))
  const way = await screen.findByRole('menuitem', { name: /travel.positions/ })
  await vi.waitFor(() => expect(way).toBeEnabled())
})

it('lists the files with their checksums when asked', async () => {
  opened(good)
  fireEvent.click(screen.getByRole('button', { name: 'list.act' }))
  expect(await screen.findByText('t/offsets/746')).toBeVisible()
  expect(screen.getByText('ab12')).toBeVisible()
})
