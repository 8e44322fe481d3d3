import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { MemoryRouter } from 'react-router'
import { afterEach, expect, it } from 'vitest'
import canvas from '../canvas/locales/en.json'
import shared from '../../shared/locales/en.json'
import { useEditor } from './editor-store'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, shared } } })
const { Dock } = await import('./dock') // it adds words of its own as it is loaded

afterEach(cleanup)

const shown = (dock: string) =>
  render(
    <MantineProvider env="test">
      <MemoryRouter initialEntries={[`/jobs/a?dock=${dock}`]}>
        <Dock />
      </MemoryRouter>
    </MantineProvider>,
  )

it('shows who may only look the problems, where its address asks for a preview', () => {
  const document = { schema_version: 1, name: 'a', type: 'STREAMING' as const, parameters: {}, nodes: {}, edges: {}, settings: {} }
  useEditor.getState().open('a', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [], true)
  shown('preview')
  expect(screen.queryByRole('tab', { name: 'Preview' })).toBeNull()
  expect(screen.getByRole('tab', { name: 'Problems' }).getAttribute('aria-selected')).toBe('true')
  expect(screen.getByText(canvas.noProblemsRead)).toBeTruthy()
})

it('does not say that a drawing can be published where Spark has not looked at it', () => {
  const document = { schema_version: 1, name: 'a', type: 'STREAMING' as const, parameters: {}, nodes: {}, edges: {}, settings: {} }
  useEditor.getState().open('a', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  useEditor.setState({ checked: document, unanalysed: 'nobody is there' })
  shown('problems')
  expect(screen.getByText('Spark has not checked the draft: nobody is there')).toBeTruthy()
  expect(screen.queryByText(canvas.noProblems)).toBeNull()
})
