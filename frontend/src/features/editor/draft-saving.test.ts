import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DagDocument } from '../../dag/document'
import { draftsKept, saveNow, saveOnLeaving } from './draft-saving'
import { useEditor } from './editor-store'

const drawing = (): DagDocument => ({ schema_version: 1, name: 'orders', type: 'STREAMING', parameters: {}, nodes: {}, edges: {}, settings: {} })
const described = (description: string) => useEditor.getState().change({ document: { ...useEditor.getState().history.present.document, description } })
const answered = (revision: number) => new Response(JSON.stringify({ document: {}, layout: {}, revision, problems: [] }), { status: 200 })

interface Sent {
  path: string
  description: string
  revision: string
}

let sent: Sent[]
/** Each call waits for its own answer. */
let answers: ((response: Response) => void)[]

beforeEach(() => {
  sent = []
  answers = []
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('document', { cookie: '', documentElement: { lang: 'en' } })
  vi.stubGlobal('fetch', (path: string, { body, headers }: { body: string; headers: Record<string, string> }) => {
    sent.push({ path, description: (JSON.parse(body) as { document?: DagDocument }).document?.description ?? '', revision: headers['If-Match'] ?? '' })
    return new Promise<Response>((resolve) => answers.push(resolve))
  })
  useEditor.getState().open('orders', new Map(), { document: drawing(), layout: { positions: {}, notes: [], groups: [] } }, 3, [])
})
afterEach(() => vi.unstubAllGlobals())

const leave = () => {
  saveOnLeaving()
  useEditor.setState({ jobName: '' })
}
const settled = () => new Promise((resolve) => setTimeout(resolve))

it('what was changed just before the editor was left is saved under the name of its job', async () => {
  described('late')
  leave()
  await settled()
  expect(sent).toEqual([{ path: '/api/jobs/orders/draft', description: 'late', revision: '"3"' }])
})

it('a change made while another is being saved follows it with the revision that one became', async () => {
  described('one')
  void saveNow()
  described('two')
  leave()
  answers[0]?.(answered(4))
  await settled()
  expect(sent.map(({ description, revision }) => [description, revision])).toEqual([['one', '"3"'], ['two', '"4"']])
})

it('a job that is opened meanwhile is not told of the save of the one that was left', async () => {
  described('one')
  void saveNow()
  leave()
  useEditor.getState().open('flights', new Map(), { document: drawing(), layout: { positions: {}, notes: [], groups: [] } }, 9, [])
  answers[0]?.(answered(4))
  await draftsKept()
  expect([useEditor.getState().revision, useEditor.getState().save.kind, sent.length]).toEqual([9, 'saved', 1])
})

it('what was changed before the editor was left is sent until the server answers, and who closes the tab is warned', async () => {
  vi.useFakeTimers()
  const listeners = new Set<unknown>()
  vi.stubGlobal('window', { addEventListener: (_: string, one: unknown) => listeners.add(one), removeEventListener: (_: string, one: unknown) => listeners.delete(one) })
  let away = true
  vi.stubGlobal('fetch', (path: string) => {
    sent.push({ path, description: '', revision: '' })
    return away ? Promise.reject(new TypeError('Failed to fetch')) : Promise.resolve(answered(4))
  })
  described('late')
  leave()
  await vi.advanceTimersByTimeAsync(6_000)
  expect([sent.length, listeners.size]).toEqual([2, 1])
  away = false
  await vi.advanceTimersByTimeAsync(5_000)
  await draftsKept()
  expect([sent.length, listeners.size]).toEqual([3, 0])
  vi.useRealTimers()
})

it('a server that fails with a change each time is not waited for when another job is opened', async () => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', (path: string) => {
    sent.push({ path, description: '', revision: '' })
    return Promise.resolve(new Response('{}', { status: 500 }))
  })
  described('late')
  leave()
  await vi.advanceTimersByTimeAsync(120_000)
  await draftsKept()
  expect(sent.length).toBe(13)
  vi.useRealTimers()
})

it('nothing is sent where nothing was changed', async () => {
  leave()
  await settled()
  expect(sent).toEqual([])
})

const FOUND = [{ code: 'spark.analysis', severity: 'error' as const, pointer: '/nodes/a', message: 'no such column', node_id: 'a', edge_id: null, hint: '' }]

it('a save that is answered when its drawing is there no more leaves what was found of the one that is', async () => {
  useEditor.setState({ problems: FOUND, analysed: useEditor.getState().history.present.document })
  described('one')
  void saveNow()
  useEditor.getState().undo()
  answers[0]?.(answered(4))
  await settled()
  expect([useEditor.getState().problems, useEditor.getState().save.kind]).toEqual([FOUND, 'dirty'])
})

it('a save that is answered after the analysis of the same drawing leaves what that one found', async () => {
  described('one')
  void saveNow()
  useEditor.setState({ problems: FOUND, analysed: useEditor.getState().history.present.document })
  answers[0]?.(answered(4))
  await settled()
  expect(useEditor.getState().problems).toBe(FOUND)
  described('two')
  void saveNow()
  answers[1]?.(answered(5))
  await settled()
  expect(useEditor.getState().problems).toEqual([])
})

it('a save that is refused says why', async () => {
  described('one')
  const saving = saveNow()
  answers[0]?.(new Response(JSON.stringify({ error: { code: 'forbidden', message: 'this needs the role EDITOR' } }), { status: 403 }))
  await saving
  expect(useEditor.getState().save).toEqual({ kind: 'failed', refused: 'this needs the role EDITOR' })
})

/** Loses the answer of the call under way: the server may have got it. */
function unanswered() {
  answers.pop()?.(new Response('', { status: 502 }))
  return settled()
}
const sends = () => sent.map(({ description, revision }) => [description, revision])

it('a save whose answer was lost is sent again as it was, then what changed since', async () => {
  described('one')
  void saveNow()
  await unanswered()
  described('two')
  const again = saveNow()
  answers[0]?.(answered(4))
  await settled()
  answers[1]?.(answered(5))
  await again
  expect(sends()).toEqual([['one', '"3"'], ['one', '"3"'], ['two', '"4"']])
  expect([useEditor.getState().revision, useEditor.getState().save.kind]).toEqual([5, 'saved'])
})

it('what was sent without an answer is sent again before what is left, also where it was undone', async () => {
  described('one')
  void saveNow()
  await unanswered()
  useEditor.getState().undo()
  leave()
  await settled()
  answers[0]?.(answered(4))
  await settled()
  answers[1]?.(answered(5))
  await draftsKept()
  expect(sends()).toEqual([['one', '"3"'], ['one', '"3"'], ['', '"4"']])
})

it('a drawing over which the server fails does not hold up the next', async () => {
  described('one')
  void saveNow()
  answers.pop()?.(new Response('{}', { status: 500 }))
  await settled()
  described('two')
  void saveNow()
  expect(sends()).toEqual([['one', '"3"'], ['two', '"3"']])
  answers[0]?.(answered(4))
  await settled()
})

it('what is undone while it is being saved is not left as it was sent', async () => {
  described('one')
  void saveNow()
  useEditor.getState().undo()
  leave()
  answers[0]?.(answered(4))
  await settled()
  expect(sends()).toEqual([['one', '"3"'], ['', '"4"']])
})
