import { expect, it } from 'vitest'
import { markPlaces } from './mark-places'

const marks = (...at: number[]) => at.map((time) => ({ at: time, words: `event ${time}` }))
const places = (...at: number[]) => markPlaces(marks(...at), (time) => time, 400)

it('a mark has its words at its right, up to the next', () => expect(places(50, 200).map(({ x, room }) => [x, room])).toEqual([[50, 140], [200, 190]]))
it('marks too close for words of their own share one label', () => {
  const [group, ...others] = places(100, 120, 140)
  expect([group?.marks.length, group?.x, others.length]).toEqual([3, 140, 0])
})
it('at the right edge the words stand at the left', () => expect(places(380)).toMatchObject([{ leftward: true, x: 380, room: 370 }]))
it('two labels in one gap have half of it each', () => expect(places(200, 380).map(({ leftward, room }) => [leftward, room])).toEqual([[false, 80], [true, 80]]))
it('what is out of range has no place', () => expect(places(-5, 401)).toEqual([]))
