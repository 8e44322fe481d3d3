import { beforeEach, expect, it, vi } from 'vitest'
import { catalogue, chain } from '../../dag/fixtures'
import { useEditor } from './editor-store'
import { tidyUp } from './tidy-up'

type Graph = { children: { id: string; x: number; y: number }[] }
let layOut: ((graph: Graph) => void) | null = null
vi.mock('elkjs/lib/elk-api', () => ({
  default: class {
    layout = () => new Promise<Graph>((resolve) => (layOut = resolve))
    terminateWorker = vi.fn()
  },
}))

beforeEach(() => void vi.stubGlobal('Worker', EventTarget))

it('what was laid out of one job does not move the nodes of another', async () => {
  const open = (name: string) => useEditor.getState().open(name, catalogue, { document: { ...chain(), name }, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  open('one')
  const tidied = tidyUp()
  open('other')
  await vi.waitFor(() => expect(layOut).not.toBeNull())
  const before = useEditor.getState().history.present
  layOut?.({ children: [{ id: 'a', x: 900, y: 900 }] })
  await tidied
  expect(useEditor.getState().history.present).toBe(before)
})

it('a worker that cannot be loaded is not waited for', async () => {
  vi.stubGlobal('Worker', class extends EventTarget {
    constructor() {
      super()
      queueMicrotask(() => this.dispatchEvent(new Event('error')))
    }
  })
  await expect(tidyUp()).rejects.toThrow()
})
