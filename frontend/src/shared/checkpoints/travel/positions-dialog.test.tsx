import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import type { Checkpoint, PositionsEdited, SourcePosition } from '../../../api/types'
import PositionsDialog from './positions-dialog'

vi.mock('./i18n', () => ({}))
Element.prototype.scrollIntoView = vi.fn()

const kafka: SourcePosition = { node_id: 'orders', name: 'Orders', type: 'source.kafka', position: { orders: { '0': 50, '1': 50 } }, values: { orders: { '0': 50, '1': 50 } }, ways: ['earliest', 'latest', 'time', 'values'], refused: '' }
const files: SourcePosition = { node_id: 'files', name: 'Files', type: 'source.file', position: { logOffset: 3 }, values: {}, ways: [], refused: 'Spark keeps its position in a log of its own' }
const edited: PositionsEdited = { dry_run: true, sources: [{ node_id: 'orders', before: { orders: { '0': 50, '1': 50 } }, after: { orders: { '0': 40, '1': 50 } } }], checkpoint: null }

/** The dialog over these sources, with answers that come once `until` says so; `sent` keeps what it asked for. */
function opened(sources: SourcePosition[], until: () => Promise<void> = () => Promise.resolve()) {
  const sent: { sources: unknown; dry_run: boolean }[] = []
  const onDone = vi.fn()
  const server = vi.fn<typeof fetch>((_, given) => {
    if (given?.method !== 'POST') return Promise.resolve(new Response(JSON.stringify({ results: sources })))
    const body = JSON.parse(String(given.body)) as (typeof sent)[number]
    sent.push(body)
    return until().then(() => new Response(JSON.stringify({ ...edited, dry_run: body.dry_run, checkpoint: body.dry_run ? null : { id: 9 } })))
  })
  vi.stubGlobal('fetch', server)
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <PositionsDialog checkpoint={{ id: 4, checkpoint_id: 2 } as Checkpoint} onClose={vi.fn()} onDone={onDone} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { sent, onDone }
}

const way = async (words: string) => {
  fireEvent.click(await screen.findByRole('combobox', { name: 'positions.way' }))
  fireEvent.click(await screen.findByRole('option', { name: words }))
}

it('an offset that is written is shown before and after, and then made', async () => {
  const { sent, onDone } = opened([kafka])
  await way('positions.values')
  fireEvent.change(screen.getByLabelText('orders / 0'), { target: { value: '40' } })
  expect(screen.getByRole('button', { name: 'positions.confirm' })).toBeDisabled()
  fireEvent.click(screen.getByRole('button', { name: 'positions.preview' }))
  expect(await screen.findByRole('row', { name: /Orders · orders \/ 0 50 40/ })).toBeVisible()
  expect(screen.queryByRole('row', { name: /orders \/ 1/ })).toBeNull()
  fireEvent.click(screen.getByRole('button', { name: 'positions.confirm' }))
  await waitFor(() => expect(onDone).toHaveBeenCalledWith({ id: 9 }))
  const sources = { orders: { to: 'values', time: '', values: { orders: { '0': 40, '1': 50 } } } }
  expect(sent).toEqual([{ sources, dry_run: true }, { sources, dry_run: false }])
})

it('a source whose position cannot be set says why, and offers nothing', async () => {
  opened([files])
  expect(await screen.findByText('refused.log')).toBeVisible()
  expect(screen.queryByRole('combobox')).toBeNull()
  expect(screen.queryByRole('button', { name: 'positions.confirm' })).toBeNull()
})

it('what was chosen anew has to be looked at anew', async () => {
  opened([kafka])
  await way('positions.earliest')
  fireEvent.click(screen.getByRole('button', { name: 'positions.preview' }))
  await waitFor(() => expect(screen.getByRole('button', { name: 'positions.confirm' })).toBeEnabled())
  await way('positions.latest')
  expect(screen.getByRole('button', { name: 'positions.confirm' })).toBeDisabled()
})

it('an answer that comes after the choice was changed confirms nothing', async () => {
  const waiting: (() => void)[] = []
  opened([kafka], () => new Promise((resolve) => waiting.push(resolve)))
  await way('positions.earliest')
  const preview = screen.getByRole('button', { name: 'positions.preview' })
  fireEvent.click(preview)
  expect(preview).toHaveAttribute('data-loading', 'true')
  await way('positions.latest')
  expect(preview).not.toHaveAttribute('data-loading')
  fireEvent.click(preview)
  await act(async () => waiting[0]?.())
  expect(screen.getByRole('button', { name: 'positions.confirm' })).toBeDisabled()
  expect(screen.queryByRole('row', { name: /orders \/ 0/ })).toBeNull()
  waiting[1]?.()
  expect(await screen.findByRole('row', { name: /orders \/ 0 50 40/ })).toBeVisible()
  expect(screen.getByRole('button', { name: 'positions.confirm' })).toBeEnabled()
})
