import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { MemoryRouter, Route, Routes } from 'react-router'
import { expect, it, vi } from 'vitest'
import { FILTER, SOURCE } from '../../dag/fixtures'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: {} } })
const { default: EditorPage } = await import('./editor-page')

const head = { job_name: 'orders', job_uid: 'u', title: 'Orders', version: null, project: 'default', role: 'EDITOR' }
const server = (document: unknown): typeof fetch => (address) => {
  const path = address as string
  const draft = { document, layout: {}, revision: 1, problems: [], delivery: null }
  const known: Record<string, unknown> = { '/api/jobs/orders/draft': draft, '/api/node-types': { results: [SOURCE, FILTER] }, '/api/jobs/orders': head }
  return Promise.resolve(new Response(JSON.stringify(known[path] ?? { results: [], problems: [], schemas: {} })))
}

it('opens a document with a fault of shape and without its optional parts', async () => {
  const nodes = { rows: { type: 'source.file' }, keep: { type: 'flow.filter_rows', name: 'Keep', config: [] }, gone: 7 }
  vi.stubGlobal('DOMMatrixReadOnly', class { m22 = 1 })
  vi.stubGlobal('fetch', server({ name: 'orders', type: 'STREAMING', nodes, settings: { parallelsim: 4 } }))
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <MemoryRouter initialEntries={['/jobs/orders']}>
          <Routes>
            <Route path="/jobs/:jobName" element={<EditorPage />} />
          </Routes>
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
  expect(await screen.findByText('Job settings')).toBeVisible()
})
