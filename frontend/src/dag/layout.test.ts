import { expect, it } from 'vitest'
import { chain } from './fixtures'
import { completeLayout, NODE_HEIGHT, NODE_WIDTH } from './layout'

it('a node without a place gets one that no other stands at', () => {
  const moved = { positions: { a: { x: 280, y: 40 }, gone: { x: 0, y: 0 } }, notes: [], groups: [] }
  const { positions } = completeLayout(chain(), moved)
  expect(Object.keys(positions).sort()).toEqual(['a', 'b', 'c'])
  expect(positions.a).toEqual({ x: 280, y: 40 })
  const places = Object.values(positions)
  const pairs = places.flatMap((one, number) => places.slice(number + 1).map((other) => [one, other] as const))
  expect(pairs.filter(([one, other]) => Math.abs(one.x - other.x) < NODE_WIDTH && Math.abs(one.y - other.y) < NODE_HEIGHT)).toEqual([])
})

it('a drawing that nobody placed stands in columns by depth', () => {
  expect(completeLayout(chain(), { positions: {}, notes: [], groups: [] }).positions).toEqual({ a: { x: 40, y: 40 }, b: { x: 280, y: 40 }, c: { x: 520, y: 40 } })
})
