import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { BrowserRouter, Link, Route, Routes } from 'react-router'
import { expect, it, vi } from 'vitest'
import { FILTER, SOURCE } from '../../dag/fixtures'
import { layOut, placeOf, WELL } from '../canvas/test-layout'
import canvas from '../canvas/locales/en.json'
import shared from '../../shared/locales/en.json'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, shared } } })
const { default: EditorPage } = await import('./editor-page')

const head = { job_name: 'orders', job_uid: 'u', title: 'Orders', version: null, project: 'default', role: 'EDITOR' }
const server = (document: unknown, layout = {}): typeof fetch => (address) => {
  const path = address as string
  const draft = { document, layout, revision: 1, problems: [], delivery: null }
  const known: Record<string, unknown> = { '/api/jobs/orders/draft': draft, '/api/node-types': { results: [SOURCE, FILTER] }, '/api/jobs/orders': head }
  return Promise.resolve(new Response(JSON.stringify(known[path] ?? { results: [], problems: [], schemas: {} })))
}

function open(address: string) {
  history.replaceState(null, '', address)
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <BrowserRouter>
          <Link to="/jobs/orders?node=n7">the seventh</Link>
          <Routes>
            <Route path="/jobs/:jobName" element={<EditorPage />} />
          </Routes>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
}

it('opens a document with a fault of shape and without its optional parts', async () => {
  const nodes = { rows: { type: 'source.file' }, keep: { type: 'flow.filter_rows', name: 'Keep', config: [] }, gone: 7 }
  vi.stubGlobal('DOMMatrixReadOnly', class { m22 = 1 })
  vi.stubGlobal('fetch', server({ name: 'orders', type: 'STREAMING', nodes, settings: { parallelsim: 4 } }))
  open('/jobs/orders')
  expect(await screen.findByText('Job settings')).toBeVisible()
})

it('selects the node that the address names, moves to it, and does so again when it is asked for again', { timeout: 40_000 }, async () => {
  const ids = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7']
  const nodes = Object.fromEntries(ids.map((id) => [id, { type: 'flow.filter_rows', type_version: 1, name: `Name of ${id}`, config: {} }]))
  const positions = Object.fromEntries(ids.map((id, index) => [id, { x: index * 300, y: 0 }]))
  layOut()
  vi.stubGlobal('fetch', server({ name: 'orders', type: 'STREAMING', nodes, edges: {}, parameters: {}, settings: {} }, { positions, notes: [], groups: [] }))
  open('/jobs/orders?node=n7&dock=json')
  const soon = { timeout: 12_000 }
  const selected = () => document.querySelector('.react-flow__node.selected')?.getAttribute('data-id')
  const isMoved = () => expect([selected(), placeOf(7 * 300) < WELL.width, location.search]).toEqual(['n7', true, '?dock=json'])
  await waitFor(isMoved, soon)

  fireEvent.click(document.querySelector('.react-flow__pane') as Element)
  await waitFor(() => expect(selected()).toBeUndefined(), soon)
  fireEvent.click(screen.getByText('the seventh'))
  await waitFor(() => expect([selected(), location.search]).toEqual(['n7', '']), soon)
  vi.restoreAllMocks()
})
