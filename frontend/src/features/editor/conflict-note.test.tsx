import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { catalogue, chain } from '../../dag/fixtures'
import { useAnswers } from '../../shared/answers'
import { useEditor } from './editor-store'
import canvas from '../canvas/locales/en.json'
import shared from '../../shared/locales/en.json'
import versions from './versions/locales/en.json'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, shared, versions } } })
await import('../canvas/i18n')
const { ConflictNote } = await import('./conflict-note')

const editor = () => useEditor.getState()
const nodesDrawn = () => Object.keys(editor().history.present.document.nodes)

const answerOf = (body: unknown, status = 200) => Promise.resolve(new Response(JSON.stringify(body), { status }))
const refused = (code: string, message: string, status: number) => answerOf({ error: { code, message } }, status)

beforeEach(() => {
  vi.stubGlobal('DOMMatrixReadOnly', class { m22 = 1 })
  useAnswers.setState({ answers: [] })
  editor().open('chain', catalogue, { document: chain(), layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  editor().remove(['c'])
  useEditor.setState({ save: { kind: 'conflict', by: 'otto', revision: 9 } })
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <ConflictNote />
      </QueryClientProvider>
    </MantineProvider>,
  )
})
afterEach(() => vi.unstubAllGlobals())

const click = (name: string) => fireEvent.click(screen.getByRole('button', { name }))

/** Otto's drawing, of which one node has another name. */
const theirs = () => {
  const document = chain()
  const nodes = Object.fromEntries(Object.entries(document.nodes).map(([id, node]) => [id, id === 'a' ? { ...node, name: 'By Otto' } : node]))
  return { document: { ...document, nodes }, layout: {}, revision: 9, problems: [], delivery: null }
}

it('says why the other version cannot be taken, and asks on', async () => {
  vi.stubGlobal('fetch', () => refused('x', 'the database is away', 503))
  click('Take the other version')
  await waitFor(() => expect(useAnswers.getState().answers).toMatchObject([{ ok: false, text: 'the database is away' }]))
  expect(screen.getByRole('alert')).toBeVisible()
})

it('the drawing that gives way comes back by Undo, and is saved over the one that was taken', async () => {
  vi.stubGlobal('fetch', () => answerOf(theirs()))
  click('Take the other version')
  await waitFor(() => expect(nodesDrawn()).toEqual(['a', 'b', 'c']))
  expect(editor()).toMatchObject({ revision: 9, save: { kind: 'saved' }, saved: editor().history.present })
  editor().undo()
  expect(nodesDrawn()).toEqual(['a', 'b'])
  expect(editor().saved.document.nodes.a?.name).toBe('By Otto')
})

it('shows how the two drawings differ', async () => {
  vi.stubGlobal('fetch', () => answerOf(theirs()))
  click('Show the difference')
  expect(await screen.findByText('By Otto')).toBeInTheDocument()
  expect(screen.getAllByText('removed').length).toBeGreaterThan(0)
  expect(nodesDrawn()).toEqual(['a', 'b'])
})

it('a copy gets the first free name in the same project, and the other version is shown', async () => {
  const made: { name: string; project: string; publish: boolean; nodes: object }[] = []
  vi.stubGlobal('fetch', (address: string, { method, body }: { method: string; body: string }) => {
    if (method === 'POST') made.push(JSON.parse(body) as (typeof made)[number])
    if (method === 'POST') return made.length === 1 ? refused('job.name_taken', 'taken', 409) : answerOf({}, 201)
    return answerOf(address.endsWith('/draft') ? theirs() : { job_name: 'chain', project: 'shop' })
  })
  click('Save mine as a copy')
  await waitFor(() => expect(nodesDrawn()).toEqual(['a', 'b', 'c']))
  expect(made.map(({ name, project, publish, nodes }) => [name, project, publish, Object.keys(nodes)])).toEqual([
    ['chain-copy', 'shop', false, ['a', 'b']],
    ['chain-copy-2', 'shop', false, ['a', 'b']],
  ])
  expect(useAnswers.getState().answers).toMatchObject([{ ok: true, link: { to: '/jobs/chain-copy-2' } }])
})
