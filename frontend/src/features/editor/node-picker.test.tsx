import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import { catalogue } from '../../dag/fixtures'
import { useEditor } from './editor-store'
import { NodePicker } from './node-picker'
import { Palette } from './palette'
import { openPicker } from './picker-store'

const added = () => Object.values(useEditor.getState().history.present.document.nodes).map(({ type }) => type)

beforeEach(() => {
  const document = { schema_version: 1, name: 'a', type: 'STREAMING' as const, parameters: {}, nodes: {}, edges: {}, settings: {} }
  useEditor.getState().open('a', catalogue, { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  openPicker({})
  render(
    <MantineProvider env="test">
      <NodePicker />
    </MantineProvider>,
  )
})

const field = () => screen.getByRole('combobox')
const chosen = () => screen.getByRole('option', { selected: true })

it('an arrow key brings the type it chooses into sight, and says which', () => {
  const shown = vi.spyOn(Element.prototype, 'scrollIntoView')
  const first = chosen()
  fireEvent.keyDown(field(), { key: 'ArrowDown' })
  expect(chosen()).not.toBe(first)
  expect(shown.mock.contexts.at(-1)).toBe(chosen())
  expect(field().getAttribute('aria-activedescendant')).toBe(chosen().id)
  shown.mockRestore()
})

it.each([{ isComposing: true }, { keyCode: 229 }])('keys of an input method are left to it: %j', (key) => {
  const first = chosen()
  fireEvent.keyDown(field(), { key: 'ArrowDown', ...key })
  expect(fireEvent.keyDown(field(), { key: 'Enter', ...key })).toBe(true)
  expect([chosen(), added()]).toEqual([first, []])
  fireEvent.keyDown(field(), { key: 'Enter' })
  expect(added()).toHaveLength(1)
})

it('the palette adds nothing while an input method is written with', () => {
  cleanup()
  render(<Palette />)
  const palette = screen.getByRole('textbox')
  fireEvent.change(palette, { target: { value: 'union' } })
  fireEvent.keyDown(palette, { key: 'Enter', isComposing: true })
  expect(added()).toEqual([])
  fireEvent.keyDown(palette, { key: 'Enter' })
  expect(added()).toEqual(['flow.union'])
})
