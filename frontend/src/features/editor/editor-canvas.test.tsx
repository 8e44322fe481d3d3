import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { ReactFlowProvider } from '@xyflow/react'
import { MemoryRouter } from 'react-router'
import { expect, it, vi } from 'vitest'
import { catalogue, chain } from '../../dag/fixtures'
import { useAnswers } from '../../shared/answers'
import { EditorCanvas } from './editor-canvas'
import { useEditor } from './editor-store'

vi.mock('./tidy-up', () => ({ tidyUp: () => Promise.reject(new TypeError('away')) }))

function opened(readOnly: boolean) {
  vi.stubGlobal('DOMMatrixReadOnly', class { m22 = 1 })
  useEditor.getState().open('chain', catalogue, { document: chain(), layout: { positions: {}, notes: [] } }, 1, [], readOnly)
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
