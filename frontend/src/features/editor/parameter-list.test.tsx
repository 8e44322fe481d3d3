import { MantineProvider } from '@mantine/core'
import { act, fireEvent, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it } from 'vitest'
import type { DagDocument, Json } from '../../dag/document'
import canvas from '../canvas/locales/en.json'
import { useEditor } from './editor-store'
import { ParameterList } from './parameter-list'
import { nameWaits } from './use-parameter-rows'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas } } }))

const show = () =>
  render(
    <MantineProvider env="test">
      <ParameterList />
    </MantineProvider>,
  )

function drawn(parameters: Record<string, Json>) {
  const document: DagDocument = { schema_version: 1, name: 'a', type: 'STREAMING', parameters, nodes: {}, edges: {}, settings: {} }
  useEditor.getState().open('a', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  return show()
}

const kept = () => useEditor.getState().history.present.document.parameters
const field = (label: string, row = 0) => screen.getAllByRole('textbox', { name: label })[row] as HTMLInputElement
function type(label: string, texts: string[], row = 0) {
  for (const value of texts) fireEvent.change(field(label, row), { target: { value } })
}
function choose(label: string, option: string) {
  fireEvent.click(screen.getByLabelText(label, { selector: 'input' }))
  fireEvent.click(screen.getByRole('option', { name: option }))
}

it('a decimal number is typed digit by digit', () => {
  drawn({ share: { type: 'number', default: null, description: 'How much' } })
  type('Default value', ['0', '0.', '0.0', '0.05'])
  expect(field('Default value')).toHaveValue('0.05')
  expect(kept()).toEqual({ share: { type: 'number', default: 0.05, description: 'How much' } })
})

it('a name that is typed past another leaves that one alone', () => {
  drawn({ a: { type: 'string', default: 'one' }, b: { type: 'string', default: 'two' } })
  type('Parameter name', ['a'], 1)
  expect(screen.getAllByText('Another parameter has this name')).toHaveLength(1)
  expect(kept()).toEqual({ a: { type: 'string', default: 'one' }, b: { type: 'string', default: 'two' } })
  type('Parameter name', ['ab'], 1)
  expect(kept()).toEqual({ a: { type: 'string', default: 'one' }, ab: { type: 'string', default: 'two' } })
})

it('another type keeps the description', () => {
  drawn({ rows: { type: 'string', default: '40', description: 'How many' } })
  choose('Parameter type', 'integer')
  expect(kept()).toEqual({ rows: { type: 'integer', default: 40, description: 'How many' } })
})

it('a switch is on, off, or asked for at the start', () => {
  drawn({ full: { type: 'boolean', default: true } })
  choose('Default value', 'false')
  expect(kept()).toEqual({ full: { type: 'boolean', default: false } })
  choose('Default value', 'asked for at the start')
  expect(kept()).toEqual({ full: { type: 'boolean', default: null } })
})

it('a text may have an empty default, or none', () => {
  drawn({ table: { type: 'string', default: 'orders' } })
  type('Default value', [''])
  expect(kept()).toEqual({ table: { type: 'string', default: '' } })
  fireEvent.click(screen.getByRole('button', { name: 'No default: asked for at the start' }))
  expect(kept()).toEqual({ table: { type: 'string', default: null } })
})

it('the drawing has what is typed at once, and Undo is shown', () => {
  drawn({ table: { type: 'string', default: 'orders' } })
  type('Default value', ['flights'])
  expect([kept(), nameWaits()]).toEqual([{ table: { type: 'string', default: 'flights' } }, false])
  act(() => useEditor.getState().undo())
  expect(field('Default value')).toHaveValue('orders')
})

it('a parameter that is added takes a name that is free', () => {
  drawn({ parameter_2: { type: 'string', default: 'x' } })
  fireEvent.click(screen.getByRole('button', { name: 'Add parameter' }))
  expect(kept()).toEqual({ parameter_2: { type: 'string', default: 'x' }, parameter_3: { type: 'string', default: '' } })
})

it('an integer of any length is kept to its last digit', () => {
  drawn({ id: { type: 'integer', default: 1234567890123456789n } })
  expect(field('Default value')).toHaveValue('1234567890123456789')
  type('Default value', ['9007199254740993'])
  expect(JSON.stringify(kept())).toBe('{"id":{"type":"integer","default":9007199254740993}}')
})

it('a name that will not do holds nothing else back, and waits while the panel is closed', () => {
  const { unmount } = drawn({ a: { type: 'string', default: 'one' }, b: { type: 'string', default: 'two' } })
  type('Parameter name', [''], 0)
  type('Default value', ['1'], 0)
  type('Default value', ['2'], 1)
  expect([kept(), nameWaits()]).toEqual([{ a: { type: 'string', default: '1' }, b: { type: 'string', default: '2' } }, true])
  unmount()
  show()
  expect([field('Parameter name').value, screen.getAllByText('Give it a name').length]).toEqual(['', 1])
  type('Parameter name', ['c'], 0)
  expect([Object.keys(kept()), nameWaits()]).toEqual([['c', 'b'], false])
})

it('a name is taken while a parameter keeps it, and two can be swapped', () => {
  drawn({ a: { type: 'string', default: 'one' }, b: { type: 'string', default: 'two' } })
  type('Parameter name', [''], 0)
  type('Parameter name', ['a'], 1)
  expect(screen.getByText('Another parameter has this name')).toBeVisible()
  expect(Object.keys(kept())).toEqual(['a', 'b'])
  type('Parameter name', ['b'], 0)
  expect([kept(), nameWaits()]).toEqual([{ b: { type: 'string', default: 'one' }, a: { type: 'string', default: 'two' } }, false])
})

it('a parameter whose name will not do can be removed', () => {
  drawn({ a: { type: 'string', default: 'one' }, b: { type: 'string', default: 'two' } })
  type('Parameter name', [''], 0)
  fireEvent.click(screen.getAllByRole('button', { name: 'Remove this row' })[0] as HTMLElement)
  expect([Object.keys(kept()), nameWaits()]).toEqual([['b'], false])
})
