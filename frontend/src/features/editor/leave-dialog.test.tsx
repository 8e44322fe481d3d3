import { MantineProvider } from '@mantine/core'
import { act, fireEvent, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { leavePage } from '../../shared/leaving'
import shared from '../../shared/locales/en.json'
import canvas from '../canvas/locales/en.json'
import { useEditor, type SaveState } from './editor-store'
import { LeaveDialog } from './leave-dialog'
import { newRow } from './parameter-rows'
import { writeRows } from './use-parameter-rows'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, shared } } }))

const document: DagDocument = { schema_version: 1, name: 'a', type: 'STREAMING', parameters: {}, nodes: {}, edges: {}, settings: {} }
const CONFLICT: SaveState = { kind: 'conflict', by: 'otto', revision: 9 }
const goOn = vi.fn()

function left(save: SaveState, description: string) {
  useEditor.getState().change({ document: { ...useEditor.getState().history.present.document, description } })
  useEditor.setState({ save })
  act(() => leavePage(goOn))
}

beforeEach(() => {
  goOn.mockClear()
  useEditor.getState().open('a', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  render(
    <MantineProvider env="test">
      <LeaveDialog />
    </MantineProvider>,
  )
})

it('a drawing in conflict is not left without asking', () => {
  left(CONFLICT, 'mine')
  expect(screen.getByText('Conflict with otto, rev 9')).toBeVisible()
  fireEvent.click(screen.getByRole('button', { name: 'Stay here' }))
  expect([goOn.mock.calls.length, screen.queryByRole('dialog')]).toEqual([0, null])
  act(() => leavePage(goOn))
  fireEvent.click(screen.getByRole('button', { name: 'Leave without saving' }))
  expect(goOn).toHaveBeenCalledOnce()
})

it('one that the server refuses says why', () => {
  left({ kind: 'failed', refused: 'this needs the role EDITOR' }, 'mine')
  expect(screen.getByText('Not saved: this needs the role EDITOR')).toBeVisible()
})

it.each<SaveState>([{ kind: 'saved', at: 1 }, { kind: 'dirty' }, { kind: 'saving' }, { kind: 'offline' }])('a drawing that is $kind is left at once: what is new in it is sent', (save) => {
  left(save, 'mine')
  expect(goOn).toHaveBeenCalledOnce()
})

it('a conflict in which nothing of mine is new is left at once', () => {
  useEditor.setState({ save: CONFLICT })
  act(() => leavePage(goOn))
  expect(goOn).toHaveBeenCalledOnce()
})

it("a parameter's name that will not do is not left without asking", () => {
  act(() => writeRows([{ ...newRow([]), name: '' }]))
  left({ kind: 'saved', at: 1 }, 'mine')
  expect(screen.getByText("The name of a parameter is not saved: it is empty, or taken")).toBeVisible()
  expect(goOn).not.toHaveBeenCalled()
})
