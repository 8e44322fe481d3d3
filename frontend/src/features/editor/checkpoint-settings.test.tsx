import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, beforeAll, expect, it } from 'vitest'
import type { DagDocument, JobType, Json } from '../../dag/document'
import canvas from '../canvas/locales/en.json'
import shared from '../../shared/locales/en.json'
import { CheckpointSettings } from './checkpoint-settings'
import { useEditor } from './editor-store'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, shared } } }))
afterEach(cleanup)

function drawn(type: JobType, settings: Record<string, Json> = {}) {
  const document: DagDocument = { schema_version: 1, name: 'a', type, parameters: {}, nodes: {}, edges: {}, settings }
  useEditor.getState().open('a', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  render(
    <MantineProvider env="test">
      <CheckpointSettings />
    </MantineProvider>,
  )
}

const kept = () => useEditor.getState().history.present.document.settings
const write = (label: string, text: string) => fireEvent.change(screen.getByLabelText(label), { target: { value: text } })

it('keeps durations as text, numbers as numbers, and nothing of an empty field', () => {
  drawn('STREAMING', { checkpoint_timeout: '2 min' })
  write('Every', '30s')
  write('Every … rows', '5000')
  write('Failures in a row', '-1')
  write('Fails after', '')
  expect(kept()).toEqual({ checkpoint_interval: '30s', checkpoint_rows: 5000, checkpoint_tolerable_failures: -1 })
})

it('offers pages to an import only, but lets go of them wherever they are set', () => {
  drawn('STREAMING')
  expect(screen.queryByRole('switch')).toBeNull()
  cleanup()
  drawn('STREAMING', { checkpoint_each_page: true })
  fireEvent.click(screen.getByRole('switch'))
  expect(kept()).toEqual({})
  cleanup()
  drawn('BATCH_ROLLER')
  fireEvent.click(screen.getByRole('switch'))
  expect(kept()).toEqual({ checkpoint_each_page: true })
})

it('says what is wrong on the setting, and what each node promises', () => {
  drawn('STREAMING', { checkpoint_rows: -5 })
  useEditor.setState({
    problems: [{ severity: 'error', code: 'settings.invalid', node_id: null, edge_id: null, pointer: '/settings/checkpoint_rows', message: 'must be 0 or more' }],
    delivery: { guarantee: 'at least once', nodes: [{ node_id: 'out', name: 'Out', type: 'sink.print', guarantee: 'at least once' }] },
  })
  cleanup()
  render(
    <MantineProvider env="test">
      <CheckpointSettings />
    </MantineProvider>,
  )
  expect(screen.getByRole('alert').textContent).toBe('must be 0 or more')
  expect(screen.getAllByText('at least once')).toHaveLength(2)
  expect(screen.getByText('Out')).toBeTruthy()
})

it('asks a single query for nothing', () => {
  drawn('SQL_TASK')
  expect(screen.queryByLabelText('Every')).toBeNull()
})
