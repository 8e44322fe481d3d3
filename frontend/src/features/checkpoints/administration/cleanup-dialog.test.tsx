import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Orphan, RetentionItem } from '../../../api/types'
import shared from '../../../shared/locales/en.json'
import CleanupDialog from './cleanup-dialog'
import en from './locales/en.json'
import zh from './locales/zh.json'
import OrphansPanel from './orphans-panel'

vi.mock('./i18n', () => ({}))

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { cleaning: en, shared } } }))
afterEach(cleanup)

const time = '2026-01-01T10:00:00Z'
const item = (checkpoint: number, more: Partial<RetentionItem>): RetentionItem => ({ checkpoint, checkpoint_id: checkpoint, job_name: 'orders', job_title: 'Orders', execution_id: 'e', create_time: time, action: 'keep', kind: 'NEWEST', reason: '', newest: 10, age: 604_800, room: null, needed_by: '', bytes: 10, ...more })
const items = [item(3, {}), item(2, { kind: 'EXECUTION', needed_by: 'abcdefgh-1' }), item(1, { action: 'delete', kind: 'COUNT' })]
const reasons = [{ action: 'keep', kind: 'NEWEST', count: 1, bytes: 10 }, { action: 'keep', kind: 'EXECUTION', count: 1, bytes: 10 }, { action: 'delete', kind: 'COUNT', count: 1, bytes: 10 }]
const orphan = (kind: Orphan['kind'], more: Partial<Orphan>): Orphan => ({ kind, path: `/root/${kind}`, storage: 'local', job_name: null, checkpoint: null, checkpoint_id: null, execution_id: null, bytes: 5, changed: time, grace_ends: time, due: true, marked: false, ...more })
const orphans = [orphan('TEMPORARY', {}), orphan('NO_ROW', { due: false, grace_ends: '2999-01-01T00:00:00Z' }), orphan('FOREIGN', { due: false, grace_ends: null }), orphan('NO_FILES', { due: false, marked: true, grace_ends: null })]

function shown(what: React.ReactNode) {
  const asked: string[] = []
  vi.stubGlobal('fetch', vi.fn<typeof fetch>((path, options) => {
    const url = new URL(String(path), 'http://here')
    asked.push(`${options?.method ?? 'GET'} ${url.pathname} ${url.searchParams.get('action') ?? ''} ${url.searchParams.get('kind') ?? ''}`)
    const fits = items.filter((one) => (url.searchParams.get('action') ?? one.action) === one.action && (url.searchParams.get('kind') ?? one.kind) === one.kind)
    const kinds = orphans.map((one) => ({ kind: one.kind, count: 1, due: one.due ? 1 : 0 }))
    const answers: Record<string, unknown> = {
      '/api/checkpoints/retention': { next_run: time, count: fits.length, reasons, results: fits },
      '/api/checkpoints/orphans': { grace: 3600, next_run: time, count: 4, kinds, results: orphans },
      '/api/checkpoints/cleanup': { dry_run: false, deleted: 2, kept: 2, bytes: 15, results: [] },
    }
    return Promise.resolve(new Response(JSON.stringify(answers[url.pathname])))
  }))
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>{what}</QueryClientProvider>
    </MantineProvider>,
  )
  return asked
}

it('tells what goes and why each of the rest stays, by reason, before it deletes', async () => {
  const onClose = vi.fn()
  const asked = shown(<CleanupDialog onClose={onClose} onDone={vi.fn()} />)
  expect(await screen.findByText('older than the newest 10 of its run')).toBeVisible()
  const stay = screen.getByRole('group', { name: 'Stay' })
  fireEvent.click(within(stay).getByRole('button', { name: /an execution needs it/ }))
  expect(await screen.findByText('execution abcdefgh can go on from it')).toBeVisible()
  fireEvent.click(within(stay).getByRole('button', { name: /^Stay/ }))
  expect(await screen.findByText('among the newest 10 of its run and younger than 7 d')).toBeVisible()
  fireEvent.click(screen.getByText(/1 orphan goes as well/))
  expect(screen.getByText('/root/TEMPORARY')).toBeVisible()
  expect(screen.queryByText('/root/NO_ROW')).toBeNull()
  fireEvent.click(screen.getByRole('button', { name: 'Delete 2 now' }))
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(asked).toContain('GET /api/checkpoints/retention keep EXECUTION')
  expect(asked).toContain('POST /api/checkpoints/cleanup  ')
})

it('tells of each orphan what it is and when its grace time ends', async () => {
  shown(<OrphansPanel kind="" onKind={vi.fn()} />)
  const grace = async (name: string) => (await screen.findByRole('cell', { name })).closest('tr')?.lastElementChild?.textContent
  expect(await grace('temporary part')).toBe('goes at the next clean-up')
  expect(await grace('folder without a row')).toMatch(/^not yet: in \d+ d$/)
  expect(await grace('of a job not known here')).toBe('left alone: delete it by hand')
  expect(await grace('checkpoint without files')).toBe('marked as damaged: delete the checkpoint')
})

it('has every kind and reason in both languages', () => {
  for (const part of ['reason', 'why'] as const) expect(Object.keys(zh[part])).toEqual(Object.keys(en[part]))
  expect(Object.keys(zh.orphan.kind)).toEqual(Object.keys(en.orphan.kind))
})
