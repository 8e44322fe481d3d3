import { describe, expect, it } from 'vitest'
import { copyNodes, pasteNodes } from './clipboard'
import type { Layout } from './document'
import { chain } from './fixtures'
import { completeLayout, freePlace, NODE_HEIGHT } from './layout'
import { configPath, ordered } from './problems'

const layout: Layout = { positions: { a: { x: 0, y: 0 }, b: { x: 100, y: 0 } }, notes: [], groups: [] }

describe('copy and paste', () => {
  it('brings nodes and the edges between them under free ids and names', () => {
    const pasted = pasteNodes(chain(), layout, copyNodes(chain(), layout, ['a', 'b']))
    expect(pasted?.ids).toEqual(['a_2', 'b_2'])
    expect(pasted?.document.nodes.a_2?.name).toBe('A 2')
    expect(Object.values(pasted?.document.edges ?? {})).toContainEqual({ from: ['a_2', 'out'], to: ['b_2', 'in'] })
    expect(pasted?.layout.positions).toMatchObject({ a_2: { x: 0, y: 116 }, b_2: { x: 100, y: 116 } })
  })

  it('takes no text that is not ours', () => {
    for (const text of ['', 'hello', '{}', '[1]', 'null']) expect(pasteNodes(chain(), layout, text)).toBeNull()
  })
})

describe('layout', () => {
  it('places unplaced nodes by depth and keeps placed ones', () => {
    const whole = completeLayout(chain(), layout)
    expect(whole.positions.a).toEqual({ x: 0, y: 0 })
    expect(whole.positions.c?.x).toBeGreaterThan(400)
  })

  it('finds a free place below an occupied one', () => {
    expect(freePlace(layout, { x: 2, y: 3 }).y).toBeGreaterThanOrEqual(NODE_HEIGHT)
  })
})

describe('problems', () => {
  const problem = (pointer: string, severity: 'error' | 'warning' = 'error', node_id: string | null = 'b') => ({ severity, code: 'x', node_id, edge_id: null, pointer, message: '' })

  it('reads the field out of a pointer, escapes included', () => {
    expect(configPath(problem('/nodes/b/config/headers/a~1b'), 'b')).toEqual(['headers', 'a/b'])
    expect(configPath(problem('/nodes/b/name'), 'b')).toBeNull()
  })

  it('puts errors before warnings and keeps the order of the document', () => {
    const sorted = ordered([problem('', 'warning', 'a'), problem('', 'error', 'c'), problem('', 'error', 'a')], chain())
    expect(sorted.map((found) => `${found.severity} ${found.node_id}`)).toEqual(['error a', 'error c', 'warning a'])
  })
})
