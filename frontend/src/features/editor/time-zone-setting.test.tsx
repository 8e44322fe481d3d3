import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, expect, it } from 'vitest'
import canvas from '../canvas/locales/en.json'
import { useEditor } from './editor-store'
import { TimeZoneSetting } from './time-zone-setting'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas } } })
afterEach(cleanup)

it("chooses the job's time zone, UTC as long as none is chosen", () => {
  const document = { schema_version: 1, name: 'a', type: 'STREAMING' as const, parameters: {}, nodes: {}, edges: {}, settings: {} }
  useEditor.getState().open('a', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  render(
    <MantineProvider env="test">
      <TimeZoneSetting />
    </MantineProvider>,
  )
  const field = screen.getByLabelText<HTMLInputElement>('Time zone')
  expect([field.value, field.placeholder]).toEqual(['', 'UTC'])
  fireEvent.click(field)
  fireEvent.click(screen.getByText('Europe/Berlin'))
  expect(useEditor.getState().history.present.document.settings).toEqual({ time_zone: 'Europe/Berlin' })
  expect(field.value).toBe('Europe/Berlin')
})
