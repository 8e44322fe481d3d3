import { beforeEach, expect, it, vi } from 'vitest'
import type { DagDocument } from '../../../dag/document'
import { historyOf } from '../../../dag/history'
import { useEditor } from '../editor-store'
import { takenFromPreview } from './take-from-preview'

const node = (type: string) => ({ type, type_version: 1, name: type, config: {} })
const drawn = (type: DagDocument['type']): DagDocument => ({
  schema_version: 1,
  name: 'clicks',
  type,
  parameters: {},
  nodes: { clicks: node('source.mqtt'), minutes: node('flow.window_aggregate') },
  edges: { e1: { from: ['clicks', 'out'], to: ['minutes', 'in'] } },
  settings: {},
})
const side = (...rows: number[]) => ({ columns: [{ name: 'n', type: 'bigint' }], rows: rows.map((n) => [n]) })
const shown = (out: object) => ({ available: true, message: '', problems: [], inputs: {}, outputs: { out }, not_acted: [], given: [], printed: [], supposed: {} })

interface Asked {
  path: string
  body: { node_id?: string; rows?: unknown; document: DagDocument }
}

/** What is asked, where the source has a row, its windows two or other rows, and a test answers with `result`. */
function answering(result: object, windows = side(1, 2)) {
  const asked: Asked[] = []
  const server = vi.fn<typeof fetch>((address, given) => {
    const body = JSON.parse(String(given?.body)) as Asked['body']
    asked.push({ path: String(address), body })
    const preview = shown(body.node_id === 'clicks' ? side(7) : windows)
    const answer = String(address).endsWith('/tests') ? { available: true, message: '', results: [result] } : preview
    return Promise.resolve(new Response(JSON.stringify(answer), { status: 200 }))
  })
  vi.stubGlobal('fetch', server)
  return asked
}

const ran = { name: 'taken', status: 'failed', seconds: 1, message: '', node_id: '', problems: [], outlets: [{ outlet: 'minutes', columns: ['n'], differences: {}, rows: [{ n: 1 }] }], printed: [] }
const taken = (document: DagDocument) => {
  useEditor.setState({ jobName: 'clicks', history: historyOf({ document, layout: { positions: {}, notes: [], groups: [] } }) })
  return takenFromPreview(document, 'minutes', {}, new AbortController().signal)
}

beforeEach(() => useEditor.setState({ catalogue: new Map() }))

it('expects of a stream what a test of it brings forth, where a window may stay open', async () => {
  const asked = answering(ran)
  expect(await taken(drawn('STREAMING'))).toEqual({ given: { clicks: [{ n: 7 }] }, columns: { clicks: 'n bigint' }, expect: { minutes: [{ n: 1 }] } })
  const { path, body } = asked[asked.length - 1] as Asked
  expect([path, body.rows]).toEqual(['/api/jobs/clicks/tests', true])
  expect(body.document.tests).toMatchObject([{ given: { clicks: [{ n: 7 }] }, expect: { minutes: [] } }])
})

it('expects of a job that ends what its preview shows', async () => {
  const asked = answering(ran)
  expect((await taken(drawn('SQL_TASK'))).expect).toEqual({ minutes: [{ n: 1 }, { n: 2 }] })
  expect(asked.map((one) => one.path)).not.toContain('/api/jobs/clicks/tests')
})

it('expects of a job that ends all rows, where its preview may show the first of them only', async () => {
  const [outlet] = ran.outlets
  const rows = Array.from({ length: 1500 }, (_, n) => ({ n }))
  answering({ ...ran, outlets: [{ ...outlet, rows }] }, side(...rows.slice(0, 1000).map(({ n }) => n)))
  expect((await taken(drawn('SQL_TASK'))).expect).toEqual({ minutes: rows })
})

it('says why a test of the stream cannot be run', async () => {
  answering({ ...ran, status: 'error', message: 'its windows go by the clock', outlets: [] })
  await expect(taken(drawn('STREAMING'))).rejects.toThrow('its windows go by the clock')
})
