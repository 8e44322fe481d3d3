import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { useAnswers } from '../../shared/answers'
import canvas from '../canvas/locales/en.json'
import { ConflictNote } from './conflict-note'
import { useEditor } from './editor-store'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas } } }))
afterEach(() => vi.unstubAllGlobals())

const drawing: DagDocument = { schema_version: 1, name: 'a', type: 'STREAMING', parameters: {}, nodes: {}, edges: {}, settings: {} }

it('says why the other version cannot be taken, and asks on', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ error: { code: 'x', message: 'the database is away' } }), { status: 503 })))
  useEditor.getState().open('a', new Map(), { document: drawing, layout: { positions: {}, notes: [] } }, 1, [])
  useEditor.setState({ save: { kind: 'conflict', by: 'otto', revision: 9 } })
  render(
    <MantineProvider env="test">
      <ConflictNote />
    </MantineProvider>,
  )
  fireEvent.click(screen.getByRole('button', { name: 'Take the other version' }))
  await waitFor(() => expect(useAnswers.getState().answers).toMatchObject([{ ok: false, text: 'the database is away' }]))
  expect(screen.getByRole('alert')).toBeVisible()
})
