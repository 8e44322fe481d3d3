import { expect, it } from 'vitest'
import { countSteps, leftRoom, timeWords, topOf } from './chart-options'

const limit = (at: number) => ({ atLeast: 0, limit: () => ({ at, words: 'trigger' }) })

it('leaves room above the highest value', () => expect(topOf({ atLeast: 0, limit: () => null }, 100)).toBeCloseTo(112))
it('leaves room for the words of a limit that stands near the top', () => expect(topOf(limit(110), 100)).toBeCloseTo(129.8))
it('does not stretch to a limit out of reach', () => expect(topOf(limit(5000), 100)).toBeCloseTo(112))
it('an axis without values still has a length', () => expect(topOf({ atLeast: 0, limit: () => null }, 0)).toBe(1))

it('counts have no ticks between whole numbers', () => expect(countSteps(1.12).slice(0, 4)).toEqual([1, 2, 5, 10]))
it('less than one row a second has ticks that are written whole, too', () => expect(countSteps(0.9).slice(0, 4)).toEqual([0.1, 0.2, 0.5, 1]))

it('short words of the y axis take the same room, wide ones what they need', () => {
  expect(leftRoom([])).toBe(48)
  expect(leftRoom([12, 30])).toBe(48)
  expect(leftRoom([30, 61.2])).toBe(70)
})

const HOUR = 3600
/** Seconds of an hour of a day in January 2026, in the reader's zone. */
const at = (day: number, hour: number) => new Date(2026, 0, day, hour).getTime() / 1000
const axis = (first: number, last: number) => ({ bars: false, times: () => [first * 1000, last * 1000] })

it('has clock times alone within one day', () => expect(timeWords(axis(at(5, 1), at(5, 9)), [at(5, 2), at(5, 8)])).toEqual(['02:00', '08:00']))
it('names each day where it begins when there are several', () => expect(timeWords(axis(at(5, 20), at(6, 20)), [at(5, 21), at(6, 0), at(6, 12)])).toEqual(['01-05 21:00', '01-06', '12:00']))
it('never says midnight twice: days alone where the steps are days', () => expect(timeWords(axis(at(5, 1), at(9, 1)), [at(6, 0), at(8, 0)])).toEqual(['01-06', '01-08']))
it('has seconds where the steps are short', () => expect(timeWords(axis(at(5, 1), at(5, 1) + HOUR), [at(5, 1), at(5, 1) + 30])).toEqual(['01:00:00', '01:00:30']))
