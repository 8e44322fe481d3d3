import { expect, it } from 'vitest'
import { pillPlace } from './pill-place'

const middle = { x: 34, y: 0 }
const card = { y: -28, height: 56 }

it('a rate stands in the middle of its edge, unless names of ports stand there', () => {
  expect(pillPlace(middle, { sourceX: 0, targetX: 68, targetY: 0 }, null, 0)).toBe(middle)
  expect(pillPlace(middle, { sourceX: 0, targetX: 200, targetY: 0 }, card, 0)).toBe(middle)
})

it('beside named ports it stands over the next card, one beyond the other, and under it for a lower port', () => {
  expect(pillPlace(middle, { sourceX: 0, targetX: 68, targetY: 0 }, card, 0)).toEqual({ x: 92, y: -39 })
  expect(pillPlace(middle, { sourceX: 0, targetX: 68, targetY: 0 }, card, 1)).toEqual({ x: 92, y: -57 })
  expect(pillPlace(middle, { sourceX: 0, targetX: 68, targetY: 10 }, card, 0)).toEqual({ x: 92, y: 39 })
})
