import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { DeletionItem } from '../../../api/types'
import sharedWords from '../../locales/en.json'
import DeletionDialog from './deletion-dialog'
import deletion from './locales/en.json'

vi.mock('./i18n', () => ({}))

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { deletion, shared: sharedWords } } }))
afterEach(cleanup)

const item = (checkpoint: number, more: Partial<DeletionItem> = {}): DeletionItem => ({ checkpoint, checkpoint_id: checkpoint, job_name: 'orders', refusal: '', message: '', needs: [], bytes: 1000, ...more })
const plain = item(1)
const pinned = item(2, { refusal: 'REASON', needs: [{ kind: 'PINNED', execution: '' }, { kind: 'EXECUTION', execution: 'abcdefgh-1' }] })
const starting = item(3, { refusal: 'NEEDED', needs: [{ kind: 'START', execution: 'abcdefgh-1' }] })

interface Sent {
  ids: number[]
  reason: string
  dry_run: boolean
}

function opened(items: DeletionItem[]) {
  const sent: Sent[] = []
  vi.stubGlobal('fetch', vi.fn<typeof fetch>((_, options) => {
    const body = JSON.parse(options?.body as string) as Sent
    sent.push(body)
    const results = items.filter((one) => body.ids.includes(one.checkpoint)).map((one) => (body.dry_run ? one : { ...one, refusal: one.refusal === 'NEEDED' ? one.refusal : '' }))
    return Promise.resolve(new Response(JSON.stringify({ dry_run: body.dry_run, deleted: 0, bytes: 0, results })))
  }))
  const onDone = vi.fn()
  const onClose = vi.fn()
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <DeletionDialog ids={items.map((one) => one.checkpoint)} onClose={onClose} onDone={onDone} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { sent, onDone, onClose }
}

it('says what needs which, and lets these go for a reason only', async () => {
  const { sent, onDone, onClose } = opened([plain, pinned, starting])
  expect(await screen.findByText('pinned, execution abcdefgh can go on from it')).toBeVisible()
  expect(screen.getByText('execution abcdefgh starts from it and has none of its own yet')).toBeVisible()
  const all = screen.getByRole('button', { name: 'Delete 2 checkpoints' })
  expect(all).toBeDisabled()
  fireEvent.change(screen.getByLabelText(/Why they are to go all the same/), { target: { value: '  ' } })
  expect(all).toBeDisabled()
  fireEvent.change(screen.getByLabelText(/Why they are to go all the same/), { target: { value: 'moved to another cluster' } })
  fireEvent.click(all)
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(onDone).toHaveBeenCalledOnce()
  expect(sent).toEqual([{ ids: [1, 2, 3], reason: '', dry_run: true }, { ids: [1, 2], reason: 'moved to another cluster', dry_run: false }])
})

it('deletes only what nothing needs, without a reason', async () => {
  const { sent, onClose } = opened([plain, pinned])
  fireEvent.click(await screen.findByRole('button', { name: 'Delete the other one only' }))
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(sent[1]).toEqual({ ids: [1], reason: '', dry_run: false })
})

it('offers nothing where all stay', async () => {
  opened([starting, item(4, { refusal: 'GONE' })])
  expect(await screen.findByText('None of these can be deleted')).toBeVisible()
  expect(screen.getByText('has no files any more')).toBeVisible()
  expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
})

it('sends many in several calls', async () => {
  const many = Array.from({ length: 250 }, (_, index) => item(index + 1))
  const { sent, onClose } = opened(many)
  fireEvent.click(await screen.findByRole('button', { name: 'Delete 250 checkpoints' }))
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(sent.map((one) => one.ids.length)).toEqual([250, 100, 100, 50])
})
