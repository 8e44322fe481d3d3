import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Sample } from '../../../api/types'
import { historyOf } from '../../../dag/history'
import { useEditor } from '../editor-store'
import RowsDialog from './rows-dialog'
import { useSamples } from './use-samples'

// jsdom lays nothing out, which CodeMirror needs.
vi.mock('../form/code-field', () => ({ default: ({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) => <textarea aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)} /> }))

const mine: Sample = { columns: 'id bigint', rows: [{ id: 1 }], by_hand: true, taken_at: '2026-01-31T12:00:00Z', taken_by: 'erin', revision: 'mine' }
const document = { schema_version: 1, name: 'shop-job', type: 'STREAMING' as const, parameters: {}, nodes: { shop: { type: 'source.generator', type_version: 1, name: 'Shop', config: {} } }, edges: {}, settings: {} }

interface Sent {
  method: string
  path: string
  match: string
  body: { rows: unknown; columns: unknown }
}

/** The dialog over `kept`; `answers` by method and end of the path, one after another and the last for ever. `sent`: what changes something. */
function opened(kept: Sample, answers: Record<string, [status: number, body: unknown][]>) {
  const sent: Sent[] = []
  const onClose = vi.fn()
  const server = vi.fn<typeof fetch>((address, given) => {
    const path = String(address)
    const method = given?.method ?? 'GET'
    const headers = given?.headers as Record<string, string>
    const body = given?.body ? (JSON.parse(String(given.body)) as Sent['body']) : { rows: null, columns: null }
    if (method === 'PUT' || method === 'DELETE') sent.push({ method, path, match: headers['If-Match'] ?? '', body: { rows: body.rows, columns: body.columns } })
    const found = answers[`${method} ${path.split('/').at(-1)}`] ?? [[200, { samples: { shop: kept } }]]
    const [status, answer] = (found.length > 1 ? found.shift() : found[0]) ?? [404, {}]
    return Promise.resolve(new Response(status === 204 ? null : JSON.stringify(answer), { status }))
  })
  vi.stubGlobal('fetch', server)
  const Opened = () => {
    const samples = useSamples()
    return samples.ready && <RowsDialog nodeId="shop" kept={samples} onClose={onClose} />
  }
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <Opened />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { sent, onClose }
}

const FITS: [number, unknown][] = [[200, { available: true, message: '', problems: [], inputs: {}, outputs: {}, not_acted: [], given: ['shop'], printed: [], supposed: {} }]]
const write = async (text: string) => fireEvent.change(await screen.findByRole('textbox', { name: 'rowsOf' }), { target: { value: text } })
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))

beforeEach(() => {
  const drawing = { document, layout: { positions: {}, notes: [], groups: [] } }
  useEditor.setState({ jobName: 'shop-job', history: historyOf(drawing), saved: drawing, schemas: {}, save: { kind: 'saved', at: 0 } })
})

it('CSV is kept as rows once the server finds that it fits', async () => {
  const { sent, onClose } = opened(mine, { 'POST preview': FITS, 'PUT shop': [[200, { ...mine, revision: 'next' }]] })
  await write('id,name\n1,Ada\n2,')
  press('save')
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(sent).toEqual([{ method: 'PUT', path: '/api/jobs/shop-job/draft/samples/shop', match: '"mine"', body: { rows: [{ id: 1, name: 'Ada' }, { id: 2, name: null }], columns: 'id bigint' } }])
})

it('CSV is read by the columns that are written where the source tells none', async () => {
  const { sent, onClose } = opened(mine, { 'POST preview': FITS, 'PUT shop': [[200, { ...mine, revision: 'next' }]] })
  await write('id,zip\n1,10115\n2,90210')
  fireEvent.change(screen.getByRole('textbox', { name: 'columns' }), { target: { value: 'id bigint, zip string' } })
  press('save')
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(sent[0]?.body).toEqual({ rows: [{ id: 1, zip: '10115' }, { id: 2, zip: '90210' }], columns: 'id bigint, zip string' })
})

it('rows that do not fit are told one by one and not kept', async () => {
  const problem = { severity: 'error', code: 'sample.misfit', node_id: 'shop', pointer: '/samples/shop/rows/0/id', message: 'sample rows of Shop, row 1, column id: "x" is no bigint' }
  const { sent } = opened(mine, { 'POST preview': [[200, { available: false, message: '', problems: [problem], inputs: {}, outputs: {}, not_acted: [], given: [], printed: [], supposed: {} }]] })
  await write('[{"id": "x"}]')
  press('save')
  expect(await screen.findByText('"x" is no bigint')).toBeVisible()
  expect(sent).toEqual([])
})

it('text that holds no rows is said to, without asking anybody', async () => {
  const { sent } = opened(mine, {})
  await write('[1]')
  press('save')
  expect(await screen.findByText('noRows.item')).toBeVisible()
  expect(sent).toEqual([])
})

it('JSON that is not finished yet is said to end too early', async () => {
  opened(mine, {})
  await write('[{"id":')
  press('save')
  expect(await screen.findByText('noRows.jsonEnds')).toBeVisible()
})

it('rows that somebody else changed are overwritten only when that is said', async () => {
  const conflict = [409, { error: { code: 'sample.conflict', message: 'otto changed them', problems: [], conflict: { revision: 'his', updated_by: 'otto' } } }] as [number, unknown]
  const { sent, onClose } = opened(mine, { 'POST preview': FITS, 'PUT shop': [conflict, [200, { ...mine, revision: 'next' }]] })
  await write('[{"id": 5}]')
  press('save')
  expect(await screen.findByText('conflict')).toBeVisible()
  expect(onClose).not.toHaveBeenCalled()
  press('overwrite')
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(sent.map(({ match, body }) => [match, body.rows])).toEqual([['"mine"', [{ id: 5 }]], ['"his"', [{ id: 5 }]]])
})

it('back to the rows of the source drops those that are kept', async () => {
  const { sent, onClose } = opened(mine, { 'DELETE shop': [[204, null]] })
  await screen.findByRole('textbox', { name: 'rowsOf' })
  press('backToSource')
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(sent.map(({ method, match }) => [method, match])).toEqual([['DELETE', '"mine"']])
})

it('how to paste by hand is said until something is written', async () => {
  vi.stubGlobal('navigator', { clipboard: { readText: () => Promise.reject(new Error('denied')) } })
  opened(mine, {})
  await screen.findByRole('textbox', { name: 'rowsOf' })
  press('paste')
  expect(await screen.findByText('pasteDenied')).toBeVisible()
  await write('id\n1')
  expect(screen.queryByText('pasteDenied')).toBeNull()
  vi.unstubAllGlobals()
})

it.each(['', ' \n'])('an empty clipboard (%j) is told, and leaves the rows as they are', async (text) => {
  vi.stubGlobal('navigator', { clipboard: { readText: () => Promise.resolve(text) } })
  opened(mine, {})
  const field = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'rowsOf' })
  const before = field.value
  press('paste')
  expect(await screen.findByText('pasteEmpty')).toBeVisible()
  expect(field.value).toBe(before)
  vi.unstubAllGlobals()
})

const escape = () => fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' })
const clickBeside = () => fireEvent.click(globalThis.document.querySelector('.mantine-Modal-overlay') as Element)

it('rows that were written go neither by Escape nor by a click beside the dialog', async () => {
  const { onClose } = opened(mine, {})
  await write('[{"id": 7}]')
  escape()
  clickBeside()
  expect(onClose).not.toHaveBeenCalled()
  press('cancel')
  expect(onClose).toHaveBeenCalledOnce()
})

it.each([['Escape', escape], ['a click beside it', clickBeside]])('a dialog in which nothing was written is closed by %s', async (_, close) => {
  const { onClose } = opened(mine, {})
  await screen.findByRole('textbox', { name: 'rowsOf' })
  close()
  expect(onClose).toHaveBeenCalledOnce()
})
