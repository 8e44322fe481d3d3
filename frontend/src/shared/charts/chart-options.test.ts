import { expect, it } from 'vitest'
import { topOf } from './chart-options'

const limit = (at: number) => ({ atLeast: 0, limit: () => ({ at, words: 'trigger' }) })

it('leaves room above the highest value', () => expect(topOf({ atLeast: 0, limit: () => null }, 100)).toBeCloseTo(112))
it('leaves room for the words of a limit that stands near the top', () => expect(topOf(limit(110), 100)).toBeCloseTo(129.8))
it('does not stretch to a limit out of reach', () => expect(topOf(limit(5000), 100)).toBeCloseTo(112))
it('an axis without values still has a length', () => expect(topOf({ atLeast: 0, limit: () => null }, 0)).toBe(1))
