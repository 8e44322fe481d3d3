import { MantineProvider } from '@mantine/core'
import { act, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { ReactFlowProvider } from '@xyflow/react'
import { MemoryRouter } from 'react-router'
import { expect, it, vi } from 'vitest'
import type { Note } from '../../dag/document'
import { catalogue, chain } from '../../dag/fixtures'
import { useAnswers } from '../../shared/answers'
import { EditorCanvas } from './editor-canvas'
import { useEditor } from './editor-store'

vi.mock('./tidy-up', () => ({ tidyUp: () => Promise.reject(new TypeError('away')) }))

function opened(readOnly: boolean, notes: Note[] = []) {
  vi.stubGlobal('DOMMatrixReadOnly', class { m22 = 1 })
  useEditor.getState().open('chain', catalogue, { document: chain(), layout: { positions: {}, notes, groups: [] } }, 1, [], readOnly)
  return render(
    <MantineProvider env="test">
      <MemoryRouter>
        <ReactFlowProvider>
          <EditorCanvas />
        </ReactFlowProvider>
      </MemoryRouter>
    </MantineProvider>,
  ).container
}

it.each([[false, 5], [true, 0]])('edges can be drawn from the ports only by who may change the job (read only: %s)', async (readOnly, ports) => {
  const drawn = opened(readOnly)
  await waitFor(() => expect(drawn.querySelectorAll('.pw-port')).toHaveLength(5))
  expect(drawn.querySelectorAll('.pw-port.connectable')).toHaveLength(ports)
})

it('says that it could not tidy up', async () => {
  opened(false)
  fireEvent.click(screen.getByRole('button', { name: 'Tidy up' }))
  await waitFor(() => expect(useAnswers.getState().answers.map(({ ok, text }) => [ok, text])).toEqual([[false, expect.stringMatching(/^The drawing could not be tidied up/)]]))
})

it('a note is added where one looks, and written', () => {
  opened(false)
  fireEvent.click(screen.getByRole('button', { name: 'Add a note' }))
  fireEvent.change(screen.getByRole('textbox', { name: 'Note' }), { target: { value: 'Why so late?' } })
  expect(useEditor.getState().history.present.layout.notes.map(({ text }) => text)).toEqual(['Why so late?'])
  fireEvent.click(screen.getByRole('button', { name: 'Remove the note' }))
  expect(useEditor.getState().history.present.layout.notes).toEqual([])
})

it('nodes that are selected are grouped, and the group is named', () => {
  opened(false)
  expect(screen.getByRole('button', { name: /^Group the selected nodes/ })).toBeDisabled()
  act(() => useEditor.getState().select(['a', 'b']))
  fireEvent.click(screen.getByRole('button', { name: /^Group the selected nodes/ }))
  fireEvent.change(screen.getByRole('textbox', { name: 'Name of the group' }), { target: { value: 'Cleaning' } })
  expect(useEditor.getState().history.present.layout.groups).toMatchObject([{ id: 'group1', title: 'Cleaning' }])
})

it('who may only look reads notes and changes none', () => {
  opened(true, [{ id: 'n', text: 'Read me', x: 0, y: 0, width: 200, height: 100 }])
  expect(screen.getByRole('textbox', { name: 'Note' })).toHaveAttribute('readonly')
  expect(screen.queryByRole('button', { name: 'Add a note' })).toBeNull()
})
