import i18next from 'i18next'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { DagDocument } from '../../dag/document'
import canvas from '../canvas/locales/en.json'
import { saveNow } from './draft-saving'
import { useEditor, type SaveState } from './editor-store'
import { newRow } from './parameter-rows'
import { publishDrawing } from './publish-drawing'
import { writeRows } from './use-parameter-rows'

beforeAll(() => void i18next.init({ lng: 'en', resources: { en: { canvas } } }))

const drawing = (): DagDocument => ({ schema_version: 1, name: 'orders', type: 'STREAMING', parameters: {}, nodes: {}, edges: {}, settings: {} })
const described = (description: string) => useEditor.getState().change({ document: { ...useEditor.getState().history.present.document, description } })
const conflict = () => new Response(JSON.stringify({ error: { code: 'draft.conflict', message: 'x', conflict: { updated_by: 'otto', revision: 9 } } }), { status: 409 })

let sent: string[]
let answers: (() => Response)[]

beforeEach(() => {
  sent = []
  answers = []
  let revision = 3
  vi.stubGlobal('document', { cookie: '', documentElement: { lang: 'en' } })
  vi.stubGlobal('fetch', (path: string, { method, headers }: { method: string; headers: Record<string, string> }) => {
    sent.push(`${method} ${path.split('/').at(-1)} ${headers['If-Match'] ?? ''}`)
    const next = answers.shift()
    if (next) return Promise.resolve(next())
    revision += method === 'PUT' ? 1 : 0
    return Promise.resolve(new Response(JSON.stringify({ revision, problems: [], delivery: null }), { status: 200 }))
  })
  useEditor.getState().open('orders', new Map(), { document: drawing(), layout: { positions: {}, notes: [], groups: [] } }, 3, [])
})
afterEach(() => vi.unstubAllGlobals())

it('saves what was changed, and publishes the revision which that became', async () => {
  described('new')
  await publishDrawing('because')
  expect(sent).toEqual(['PUT draft "3"', 'POST publish "4"'])
})

it('waits for the save under way instead of being in its way', async () => {
  described('new')
  void saveNow()
  await publishDrawing('')
  expect(sent).toEqual(['PUT draft "3"', 'POST publish "4"'])
})

it('saves what was changed during the save under way, too', async () => {
  described('one')
  void saveNow()
  described('two')
  await publishDrawing('')
  expect(sent).toEqual(['PUT draft "3"', 'PUT draft "4"', 'POST publish "5"'])
})

it('publishes nothing while two drawings are in conflict, and says so', async () => {
  useEditor.setState({ save: { kind: 'conflict', by: 'otto', revision: 9 } })
  await expect(publishDrawing('')).rejects.toThrow('Not published. Conflict with otto, rev 9')
  expect(sent).toEqual([])
})

it.each<[string, () => Response, string]>([
  ['somebody else has saved', conflict, 'Not published. Conflict with otto, rev 9'],
  ['it is refused', () => new Response(JSON.stringify({ error: { code: 'forbidden', message: 'this needs the role EDITOR' } }), { status: 403 }), 'Not published. Not saved: this needs the role EDITOR'],
])('publishes nothing where the drawing cannot be saved because %s', async (_, refusal, words) => {
  described('new')
  answers = [refusal]
  await expect(publishDrawing('')).rejects.toThrow(words)
  expect(sent).toEqual(['PUT draft "3"'])
})

it('what somebody else saved meanwhile is not published but asked about', async () => {
  answers = [conflict]
  await expect(publishDrawing('')).rejects.toThrow('Not published. Conflict with otto, rev 9')
  expect(sent).toEqual(['POST publish "3"'])
  expect(useEditor.getState().save).toEqual<SaveState>({ kind: 'conflict', by: 'otto', revision: 9 })
})

it("publishes nothing while a parameter's name will not do, and says so", async () => {
  writeRows([{ ...newRow([]), name: '' }])
  await expect(publishDrawing('')).rejects.toThrow("Not published. The name of a parameter is not saved: it is empty, or taken")
  expect(sent).toEqual([])
})

it('says what is wrong with a drawing that is refused, and shows it', async () => {
  const problems = [{ severity: 'error', code: 'analysis.column', pointer: '/nodes/a/config', node_id: 'a', edge_id: null, message: 'there is no column "n"' }]
  answers = [() => new Response(JSON.stringify({ error: { code: 'invalid', message: 'the draft cannot be published', problems } }), { status: 422 })]
  await expect(publishDrawing('')).rejects.toThrow('the draft cannot be published: there is no column "n"')
  expect(useEditor.getState().problems).toEqual(problems)
})
