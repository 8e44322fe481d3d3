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
it('a drawing of six nodes is whole beside palette and panel on a small screen', () => {
  const columns = [...row(0, 240, 480, 720), { x: 960, y: 30, width: 188, height: 92 }, { x: 960, y: 170, width: 188, height: 92 }]
  const { x, zoom } = openingView(columns, 760, 460)
  expect(zoom).toBeGreaterThanOrEqual(READABLE)
  expect([Math.round(x), Math.round(1148 * zoom + x)]).toEqual([24, 736])
})
it('a drawing that stands between the tools and the legend takes their height too', () => {
  const stack = [-140, 0, 140].map((y) => ({ x: 0, y, width: 180, height: 56 }))
  const { y, zoom } = openingView(stack, 940, 241)
  expect(zoom).toBeGreaterThan(READABLE)
  expect(-140 * zoom + y).toBeGreaterThan(0)
  expect(196 * zoom + y).toBeLessThan(241)
})
it('and never lies under them', () => {
  const stack = [-140, 0, 140].map((y) => ({ x: 0, y, width: 1400, height: 56 }))
  const { y, zoom } = openingView(stack, 940, 300)
  expect(196 * zoom + y).toBeLessThanOrEqual(300 - 44)
})
