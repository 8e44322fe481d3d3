import { fireEvent, renderHook, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { useAnswers } from '../../shared/answers'
import canvas from '../canvas/locales/en.json'
import { useDroppedFiles } from './use-dropped-files'

beforeAll(() => void i18next.init({ lng: 'en', interpolation: { escapeValue: false }, resources: { en: { canvas } } }))
beforeEach(() => useAnswers.setState({ answers: [] }))

const dropped = (types = ['Files']) => ({ dataTransfer: { types, files: [new File(['{}'], 'orders.json')] } })
const answering = (read: unknown) =>
  vi.stubGlobal('fetch', vi.fn((address: string) => Promise.resolve(new Response(JSON.stringify(address === '/api/jobs/import' ? read : { job_name: 'orders', project: 'sales' })))))
const answers = () => useAnswers.getState().answers

it('a dropped file becomes a job of its own, and the page stays', async () => {
  answering({ document: { name: 'orders' }, problems: [], connections: [{ name: 'shop' }] })
  renderHook(() => useDroppedFiles('sales'))
  expect(fireEvent.dragOver(document.body, dropped())).toBe(false)
  expect(fireEvent.drop(document.body, dropped())).toBe(false)
  await waitFor(() => expect(answers()).toHaveLength(1))
  expect(answers()[0]).toMatchObject({ ok: true, text: 'orders.json is a job of its own in the project sales now, as a draft. It needs connections: shop', link: { to: '/jobs/orders' } })
  expect(fetch).toHaveBeenCalledWith('/api/jobs', expect.objectContaining({ body: JSON.stringify({ name: 'orders', project: 'sales', publish: false }) }))
})

it('one that cannot be read says why', async () => {
  answering({ document: null, problems: [{ message: 'this is not JSON' }], connections: [] })
  renderHook(() => useDroppedFiles('sales'))
  fireEvent.drop(document.body, dropped())
  await waitFor(() => expect(answers()).toMatchObject([{ ok: false, text: 'orders.json was not imported: this is not JSON' }]))
})

it('what is no file is left to the canvas, and a file on a dialog to that', () => {
  answering({})
  renderHook(() => useDroppedFiles('sales'))
  expect(fireEvent.drop(document.body, dropped(['application/x-node']))).toBe(true)
  const dialog = document.createElement('div')
  dialog.setAttribute('role', 'dialog')
  document.body.append(dialog)
  expect(fireEvent.drop(dialog, dropped())).toBe(false)
  expect(fetch).not.toHaveBeenCalled()
})
