import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { DagEdge } from '../../dag/document'
import { catalogue, chain } from '../../dag/fixtures'
import '../canvas/i18n'
import { useEditor } from './editor-store'
import { Outline } from './outline'

it('edges to the same node are told apart by their ports, and the one that was chosen goes', async () => {
  const edge = (output: string, input: string): DagEdge => ({ from: ['a', output], to: ['b', input] })
  const document = { ...chain(), edges: { good: edge('out', 'in'), bad: edge('errors', 'in'), right: edge('out', 'right') } }
  useEditor.getState().open('chain', catalogue, { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  render(
    <MantineProvider env="test">
      <Outline />
    </MantineProvider>,
  )
  fireEvent.click(screen.getByRole('button', { name: 'Actions of A' }))
  const items = (await screen.findAllByRole('menuitem')).map((item) => item.textContent)
  expect(items.slice(items.indexOf('B'))).toEqual(['B', 'errors → B', 'B (right)', 'Delete node'])
  fireEvent.click(screen.getByRole('menuitem', { name: 'errors → B' }))
  expect(Object.keys(useEditor.getState().history.present.document.edges)).toEqual(['good', 'right'])
})
