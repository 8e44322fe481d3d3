import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { catalogue, chain } from '../../dag/fixtures'
import { useEditor } from './editor-store'
import { Outline } from './outline'

it('edges to the same node are told apart by their ports, and the one that was chosen goes', async () => {
  const document = { ...chain(), edges: {
    good: { from: ['a', 'out'] as [string, string], to: ['b', 'in'] as [string, string] },
    bad: { from: ['a', 'errors'] as [string, string], to: ['b', 'in'] as [string, string] },
    right: { from: ['a', 'out'] as [string, string], to: ['b', 'right'] as [string, string] },
  } }
  useEditor.getState().open('chain', catalogue, { document, layout: { positions: {}, notes: [] } }, 1, [])
  render(
    <MantineProvider env="test">
      <Outline />
    </MantineProvider>,
  )
  fireEvent.click(screen.getAllByRole('button', { name: 'actionsOf' })[0]!)
  const items = (await screen.findAllByRole('menuitem')).map((item) => item.textContent)
  expect(items.slice(items.indexOf('B'))).toEqual(['B', 'errors → B', 'B (right)', 'deleteNode'])
  fireEvent.click(screen.getByRole('menuitem', { name: 'errors → B' }))
  expect(Object.keys(useEditor.getState().history.present.document.edges)).toEqual(['good', 'right'])
})
