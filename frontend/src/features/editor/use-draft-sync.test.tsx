import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Analysis } from './draft-requests'
import { useEditor } from './editor-store'
import { newRow } from './parameter-rows'
import { useDraftSync } from './use-draft-sync'
import { writeRows } from './use-parameter-rows'

/** What the server answers to the layouts that come, one after the other; null: nobody answers. */
let answers: (number | null)[]
let sent: string[]
let found: Analysis
/** Whether the driver takes its time for an analysis. */
let isBusy: boolean
let asked: string[]
let cancelled: string[]

beforeEach(() => {
  vi.useFakeTimers()
  sent = []
  asked = []
  cancelled = []
  isBusy = false
  found = { problems: [], schemas: {}, analysed: true, analysis: '' }
  vi.stubGlobal('fetch', (path: string, { method, headers, signal }: RequestInit) => {
    if (method === 'DELETE') cancelled.push(path)
    if (path.endsWith('/validate') && isBusy) {
      asked.push(new Headers(headers).get('X-Question-Id') ?? '')
      return new Promise((_, refuse) => signal?.addEventListener('abort', () => refuse(new DOMException('gone', 'AbortError'))))
    }
    if (path.endsWith('/validate')) return Promise.resolve(new Response(JSON.stringify(found), { status: 200 }))
    if (!path.endsWith('/layout')) return Promise.resolve(new Response('{"revision": 4, "problems": [], "delivery": null}', { status: 200 }))
    sent.push(path)
    const status = answers.shift()
    return status ? Promise.resolve(new Response('{}', { status })) : Promise.reject(new TypeError('Failed to fetch'))
  })
  const document = { schema_version: 1, name: 'orders', type: 'STREAMING' as const, parameters: {}, nodes: {}, edges: {}, settings: {} }
  useEditor.getState().open('orders', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 3, [])
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const moved = () => act(() => useEditor.getState().change({ layout: { positions: { a: { x: 1, y: 2 } }, notes: [], groups: [] } }))
const later = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds))
/** Whether who closes the tab is warned. */
const warns = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))

it('nodes that were moved while nobody answers are sent until somebody does; who closes the tab before is warned', async () => {
  answers = [null, 503, 200]
  renderHook(() => useDraftSync())
  moved()
  await later(1500)
  expect([sent.length, warns()]).toEqual([1, true])
  await later(5000)
  await later(5000)
  expect([sent.length, warns()]).toEqual([3, false])
  await later(20_000)
  expect(sent.length).toBe(3)
})

it('a layout that is refused is not sent again, and holds nobody', async () => {
  answers = [403]
  renderHook(() => useDraftSync())
  moved()
  await later(20_000)
  expect([sent.length, warns()]).toEqual([1, false])
})

it('a change that is undone before it is sent leaves the draft saved', async () => {
  answers = []
  renderHook(() => useDraftSync())
  act(() => useEditor.getState().change({ document: { ...useEditor.getState().history.present.document, description: 'new' } }))
  expect(useEditor.getState().save.kind).toBe('dirty')
  act(() => useEditor.getState().undo())
  await later(5000)
  expect(useEditor.getState().save.kind).toBe('saved')
})

it("who closes the tab is warned while a parameter's name will not do, though the rest is saved", async () => {
  answers = []
  renderHook(() => useDraftSync())
  act(() => writeRows([{ ...newRow([]), name: '' }]))
  const { present } = useEditor.getState().history
  act(() => useEditor.setState({ saved: present, save: { kind: 'saved', at: 1 } }))
  expect(warns()).toBe(true)
  act(() => writeRows([newRow([])]))
  await later(0)
  act(() => useEditor.setState({ saved: useEditor.getState().history.present, save: { kind: 'saved', at: 1 } }))
  expect(warns()).toBe(false)
})

it('what Spark found stays where no driver answers later; why is said, answers who asks, and goes once one does', async () => {
  answers = []
  const columns = { a: { out: [{ name: 'n', type: 'bigint' }] } }
  found = { ...found, schemas: columns }
  const { result } = renderHook(() => useDraftSync())
  const { document } = useEditor.getState().history.present
  const drawn = { ...document, nodes: { a: { type: 'source.mqtt', type_version: 1, name: 'a', config: {} } } }
  act(() => useEditor.getState().change({ document: drawn }))
  await later(1000)
  found = { problems: [], schemas: {}, analysed: false, analysis: 'nobody is there' }
  act(() => useEditor.getState().change({ document: { ...drawn, description: 'new' } }))
  await later(1000)
  const state = useEditor.getState()
  expect([state.schemas, state.analysed, state.unanalysed]).toEqual([columns, drawn, 'nobody is there'])
  await expect(result.current.analyseNow()).rejects.toThrow()
  found = { problems: [], schemas: columns, analysed: true, analysis: '' }
  await later(10_000)
  expect(useEditor.getState().unanalysed).toBe('')
})

it('an analysis ends as soon as its drawing is changed, or is asked about anew', async () => {
  answers = []
  isBusy = true
  const { result, unmount } = renderHook(() => useDraftSync())
  const { document } = useEditor.getState().history.present
  const drawn = { ...document, nodes: { a: { type: 'source.mqtt', type_version: 1, name: 'a', config: {} } } }
  const change = (description: string) => act(() => useEditor.getState().change({ document: { ...drawn, description } }))
  change('one')
  await later(1000)
  change('two')
  await later(0)
  expect([cancelled.length, useEditor.getState().analysing]).toEqual([1, false])
  await later(1000)
  const again = result.current.analyseNow()
  await later(0)
  expect([cancelled.length, useEditor.getState().analysing]).toEqual([2, true])
  unmount()
  await again
  expect(cancelled).toEqual(asked.map((question) => `/api/questions/${question}`))
  expect(asked.length).toBe(3)
})
