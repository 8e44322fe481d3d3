import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Checkpoint, GraphChange, Precheck, SinkRollBack } from '../../api/types'
import RestoreDialog from './restore-dialog'

vi.mock('./travel/i18n', () => ({}))
vi.mock('./changes/i18n', () => ({}))
Element.prototype.scrollIntoView = vi.fn()

const savepoints = [
  { id: 31, checkpoint_id: 5, label: 'before the move', create_time: '2026-01-01T10:00:00Z', restorable: true, restorable_reason: '' },
  { id: 30, checkpoint_id: 3, label: '', create_time: '2026-01-01T09:00:00Z', restorable: false, restorable_reason: 'it is damaged' },
]
/** What the server was asked for. */
let asked: string[] = []
beforeEach(() => { asked = [] })

const node = (node_id: string, verdict: GraphChange['verdict'], message = verdict): GraphChange => ({ node_id, name: `Node ${node_id}`, type: 'flow.aggregate', verdict, code: 'unheard', facts: {}, message })
const replay = { seconds: 90, last_batch_time: null, rows: 30, is_about: false, sources: [{ node_id: 'orders', rows: 30, files: null, bytes: null }] }
const fits: Precheck = { checkpoint: 4, ok: true, version: 1, own_version: 1, current_version: 2, drops_state: false, checks: [{ name: 'files', ok: true, severity: 'info', message: 'All files are there' }], changes: [node('orders', 'same')], replay, roll_backs: [] }
const refused: Precheck = { ...fits, ok: false, version: 2, checks: [{ name: 'graph', ok: false, severity: 'error', message: 'its window changed' }], changes: [node('orders', 'same'), node('per', 'needs_fresh_start', 'its window changed' as never)] }
const drops: Precheck = { ...fits, version: 2, drops_state: true, changes: [node('per', 'state_dropped')] }

/** Answers the checks by the version that they ask for, and keeps what a restore sends. */
function opened(current: Precheck, onCopied = vi.fn(), own = fits) {
  const sent: unknown[] = []
  const server = vi.fn<typeof fetch>((path, given) => {
    if (given?.method === 'POST') sent.push(JSON.parse(String(given.body)))
    asked.push(String(path))
    const listed = String(path).startsWith('/api/jobs?') ? { results: [{ job_name: 'orders' }, { job_name: 'payments' }] } : String(path).startsWith('/api/checkpoints?') ? { results: savepoints } : null
    const found = listed ?? (String(path).endsWith('/import') ? { id: 9, checkpoint_id: 7 } : given?.method === 'POST' ? { execution_id: 'e-1' } : String(path).endsWith('version=current') ? current : own)
    return Promise.resolve(new Response(JSON.stringify(found), { status: 200 }))
  })
  vi.stubGlobal('fetch', server)
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <MemoryRouter>
          <RestoreDialog checkpoint={{ id: 4, checkpoint_id: 2, job_name: 'orders', project: 'default' } as Checkpoint} onClose={vi.fn()} onCopied={onCopied} />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
  return sent
}

const confirm = () => screen.getByRole('button', { name: 'restore.confirm' })
const choose = async () => fireEvent.click(await screen.findByRole('radio', { name: 'restore.current' }))

it("the checkpoint's own version stands first and is restored", async () => {
  const sent = opened(refused)
  await waitFor(() => expect(confirm()).toBeEnabled())
  expect(screen.getByRole('row', { name: /Node orders/ })).toHaveTextContent('verdict.same')
  fireEvent.click(confirm())
  await waitFor(() => expect(sent).toEqual([{ version: 1, allow_non_restored_state: false, roll_back: false }]))
})

it('a version that the job never had is not offered', async () => {
  opened(fits, undefined, { ...fits, version: 2, own_version: null })
  await waitFor(() => expect(confirm()).toBeEnabled())
  expect(screen.queryByRole('radio', { name: 'restore.current' })).toBeNull()
})

it('a version that needs a fresh start is told at its node and cannot be confirmed', async () => {
  opened(refused)
  await choose()
  expect(await screen.findByText('its window changed')).toBeVisible()
  expect(screen.getByRole('row', { name: /Node per/ })).toHaveAttribute('data-verdict', 'needs_fresh_start')
  expect(confirm()).toBeDisabled()
  expect(confirm()).toHaveAccessibleDescription('restore.needsFreshStart')
})

it('state is left behind only after consent', async () => {
  const sent = opened(drops)
  await choose()
  const consent = await screen.findByLabelText('restore.allow')
  expect(confirm()).toBeDisabled()
  expect(confirm()).toHaveAccessibleDescription('restore.needsConsent')
  fireEvent.click(consent)
  fireEvent.click(confirm())
  await waitFor(() => expect(sent).toEqual([{ version: 2, allow_non_restored_state: true, roll_back: false }]))
})

const sinkCheck = (node_id: string) => ({ name: `sink.${node_id}`, ok: true, severity: 'warning' as const, message: `${node_id} repeats` })
const file: SinkRollBack = { node_id: 'lake', name: 'Lake', type: 'sink.file', way: 'removed', unit: 'files', count: 12, hindrance: '', message: '' }
const kafka: SinkRollBack = { node_id: 'topic', name: 'Topic', type: 'sink.kafka', way: 'repeated', unit: 'rows', count: null, hindrance: 'sent', message: '' }

it('sinks are rolled back only where that is asked for, and one that cannot says so before', async () => {
  const sent = opened({ ...fits, checks: [sinkCheck('lake'), sinkCheck('topic')], roll_backs: [file, kafka] })
  await choose()
  expect(await screen.findByText('lake repeats')).toBeVisible()
  expect(screen.getByText('rollBack.cannot')).toBeVisible()
  expect(screen.queryByText('topic repeats')).toBeNull()
  const choice = screen.getByLabelText('rollBack.choose')
  expect(choice).not.toBeChecked()
  fireEvent.click(choice)
  expect(screen.getByText('rollBack.files')).toBeVisible()
  expect(screen.queryByText('lake repeats')).toBeNull()
  fireEvent.click(confirm())
  await waitFor(() => expect(sent).toEqual([{ version: 1, allow_non_restored_state: false, roll_back: true }]))
})

it('where no sink can be rolled back there is nothing to choose', async () => {
  opened({ ...fits, checks: [sinkCheck('topic')], roll_backs: [kafka] })
  await choose()
  expect(await screen.findByText('rollBack.cannot')).toBeVisible()
  expect(screen.queryByLabelText('rollBack.choose')).toBeNull()
})

it('a savepoint of another job of the project is copied, and the copy is what is restored', async () => {
  const onCopied = vi.fn()
  const sent = opened(fits, onCopied)
  fireEvent.click(await screen.findByRole('radio', { name: 'restore.other' }))
  expect(screen.queryByRole('button', { name: 'restore.confirm' })).toBeNull()
  fireEvent.click(await screen.findByLabelText('import.job', { selector: 'input' }))
  expect(screen.queryByRole('option', { name: 'orders' })).toBeNull()
  fireEvent.click(await screen.findByRole('option', { name: 'payments' }))
  const choice = await screen.findByLabelText('other.savepoint', { selector: 'input' })
  await waitFor(() => expect(choice).toBeEnabled())
  fireEvent.click(choice)
  expect(await screen.findByRole('option', { name: /it is damaged/ })).toHaveAttribute('data-combobox-disabled', 'true')
  fireEvent.click(screen.getByRole('option', { name: /before the move/ }))
  fireEvent.click(screen.getByRole('button', { name: 'other.copy' }))
  await waitFor(() => expect(onCopied).toHaveBeenCalledWith(expect.objectContaining({ id: 9, checkpoint_id: 7 })))
  expect(sent).toEqual([{ checkpoint: 31 }])
  expect(asked.filter((path) => path.startsWith('/api/jobs?')).every((path) => path.includes('project=default'))).toBe(true)
  expect(asked.find((path) => path.startsWith('/api/checkpoints?'))).toContain('is_savepoint=true')
  expect(asked).toContain('/api/jobs/orders/checkpoints/import')
})
