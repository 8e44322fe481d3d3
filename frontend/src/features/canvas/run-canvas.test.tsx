import { act, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { catalogue, FILTER } from '../../dag/fixtures'
import { countsStore } from './counts'
import { RunCanvas } from './run-canvas'
import { layOut, placeOf, resizeWell, WELL } from './test-layout'

const STEP = 300
const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const document = { nodes: Object.fromEntries(ids.map((id) => [id, { type: FILTER.type, type_version: 1, name: id, config: {} }])), edges: {} } as unknown as DagDocument
const layout = { positions: Object.fromEntries(ids.map((id, index) => [id, { x: index * STEP, y: 0 }])), notes: [], groups: [] }

beforeEach(layOut)
afterEach(() => void vi.restoreAllMocks())

const canvas = (shown: { selected?: string; errorNodeId?: string }) => <RunCanvas document={document} layout={layout} catalogue={catalogue} counts={countsStore()} status="FAILED" {...shown} />

const LONG = { timeout: 20_000 }
const soon = (expected: () => void) => waitFor(expected, { timeout: 8_000 })

/** The nodes that begin within the well. */
const inSight = () => ids.filter((_, index) => placeOf(index * STEP) >= 0 && placeOf(index * STEP) < WELL.width)

it('a long drawing opens with the node that failed in sight', LONG, async () => {
  render(canvas({ errorNodeId: 'h' }))
  await soon(() => expect(inSight()).toContain('h'))
})

it('and with the one that is asked for; another that is chosen comes into sight', LONG, async () => {
  const { rerender } = render(canvas({ selected: 'g', errorNodeId: 'a' }))
  await soon(() => expect(inSight()).toContain('g'))
  rerender(canvas({ selected: 'a', errorNodeId: 'a' }))
  await soon(() => expect(inSight()).toContain('a'))
})

it('stays at its beginning where nothing failed', LONG, async () => {
  render(canvas({}))
  await soon(() => expect(placeOf(0)).toBe(24))
  expect(inSight()).not.toContain('h')
  expect(screen.getByText('h')).toBeInTheDocument()
})

it('follows a canvas that becomes narrower until a person takes it in hand', LONG, async () => {
  const two = { ...document, nodes: { a: document.nodes.a, b: document.nodes.b } } as DagDocument
  render(<RunCanvas document={two} layout={layout} catalogue={catalogue} counts={countsStore()} status="RUNNING" />)
  await soon(() => expect(placeOf(0)).toBe((WELL.width - STEP - 188) / 2))
  act(() => resizeWell({ width: 700, height: 400 }))
  await soon(() => expect(placeOf(0)).toBe((700 - STEP - 188) / 2))
  fireEvent.pointerDown(screen.getByText('a'))
  act(() => resizeWell({ width: 600, height: 400 }))
  expect(placeOf(0)).toBe((700 - STEP - 188) / 2)
})

it('shows notes and groups, which nobody changes here', () => {
  const marks = { ...layout, notes: [{ id: 'note1', text: 'Kim knows why', x: 0, y: 200, width: 200, height: 100 }], groups: [{ id: 'group1', title: 'Cleaning', x: -20, y: -60, width: 240, height: 200 }] }
  render(<RunCanvas document={document} layout={marks} catalogue={catalogue} counts={countsStore()} status="RUNNING" onSelect={() => undefined} />)
  expect(screen.getByDisplayValue('Kim knows why')).toHaveAttribute('readonly')
  expect(screen.getByDisplayValue('Cleaning')).toHaveAttribute('readonly')
  expect(screen.queryByRole('button', { name: /Remove/ })).toBeNull()
})
