import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import { catalogue } from '../../dag/fixtures'
import { useEditor } from './editor-store'
import { NodePicker } from './node-picker'
import { openPicker } from './picker-store'

beforeEach(() => {
  const document = { schema_version: 1, name: 'a', type: 'STREAMING' as const, parameters: {}, nodes: {}, edges: {}, settings: {} }
  useEditor.getState().open('a', catalogue, { document, layout: { positions: {}, notes: [] } }, 1, [])
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
