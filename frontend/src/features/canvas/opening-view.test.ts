import { expect, it } from 'vitest'
import { openingView, READABLE } from './opening-view'

const row = (...xs: number[]) => xs.map((x) => ({ x, y: 100, width: 188, height: 92 }))

it('a small drawing stands in the middle at full size', () => {
  expect(openingView(row(0, 248), 1000, 400)).toEqual({ x: 282, y: 32, zoom: 1 })
})
it('a wider one is made smaller to be seen whole', () => {
  const { x, zoom } = openingView(row(0, 870), 1000, 400)
  expect(zoom).toBeCloseTo(0.9)
  expect(x).toBeCloseTo(24)
})
it('a long one stays readable and begins at its sources', () => {
  const { x, zoom } = openingView(row(40, 288, 2000), 800, 400)
  expect(zoom).toBe(READABLE)
  expect(40 * zoom + x).toBeCloseTo(24)
})
it('a high one begins at its top', () => {
  const { y, zoom } = openingView([{ x: 0, y: 10, width: 188, height: 92 }, { x: 0, y: 2000, width: 188, height: 92 }], 800, 400)
  expect(10 * zoom + y).toBeCloseTo(24)
})
