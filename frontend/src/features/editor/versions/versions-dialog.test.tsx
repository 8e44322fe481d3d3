import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeEach, expect, it, vi } from 'vitest'
import { catalogue, chain } from '../../../dag/fixtures'
import { useAnswers } from '../../../shared/answers'
import { useEditor } from '../editor-store'
import canvas from '../../canvas/locales/en.json'
import shared from '../../../shared/locales/en.json'
import versions from './locales/en.json'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, shared, versions } } })
await import('../../canvas/i18n')
const { default: VersionsDialog } = await import('./versions-dialog')

const editor = () => useEditor.getState()
const undo = () => {
  const link = useAnswers.getState().answers.at(-1)?.link
  if (link && 'run' in link) link.run()
}

function server(address: string) {
  const version = { version: 1, comment: '', create_time: '2026-01-01T00:00:00Z', created_by: '' }
  const body = address.endsWith('/versions') ? { results: [version] } : address.endsWith('/versions/1') ? { ...version, document: chain() } : { document: editor().history.present.document }
  return Promise.resolve(new Response(JSON.stringify(body)))
}

beforeEach(async () => {
  vi.stubGlobal('DOMMatrixReadOnly', class { m22 = 1 })
  vi.stubGlobal('fetch', server)
  editor().open('chain', catalogue, { document: chain(), layout: { positions: { a: { x: 280, y: 40 } }, notes: [], groups: [] } }, 1, [])
  editor().remove(['b', 'c'])
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <VersionsDialog jobName="chain" current={1} onClose={vi.fn()} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  fireEvent.click(await screen.findByRole('button', { name: 'Take version 1 into the draft' }))
  await waitFor(() => expect(Object.keys(editor().history.present.document.nodes)).toEqual(['a', 'b', 'c']))
})

it('a version that is taken back has a place for each of its nodes, and can be undone', () => {
  const { positions } = editor().history.present.layout
  expect(new Set(Object.values(positions).map(({ x, y }) => `${x} ${y}`)).size).toBe(3)
  undo()
  expect(Object.keys(editor().history.present.document.nodes)).toEqual(['a'])
})

it('its undo leaves alone what was changed since', () => {
  editor().changeNode('a', { name: 'Another' })
  undo()
  expect(editor().history.present.document.nodes.a?.name).toBe('Another')
  expect(useAnswers.getState().answers.at(-1)).toMatchObject({ ok: false, text: expect.stringContaining('Not undone') as string })
})
