import { expect, it } from 'vitest'
import { execution } from '../live/builders'
import { ranFor, tryOf } from './execution-state'

const now = Date.parse('2026-11-21T10:10:00Z')
const start_time = '2026-11-21T10:00:00Z'

it('a running one has run until now', () => expect(ranFor(execution({ start_time }), now)).toBe(600_000))
it('an ended one until its end', () => expect(ranFor(execution({ start_time, end_time: '2026-11-21T10:02:00Z' }), now)).toBe(120_000))
it('a paused one until its driver was last heard of', () => expect(ranFor(execution({ start_time, status: 'PAUSED', confirmed_time: '2026-11-21T10:00:12Z' }), now)).toBe(12_000))
it('one that never began has not run', () => expect(ranFor(execution(), now)).toBeNull())

it('a try is counted from the first one of its execution', () => expect([tryOf(5, 5), tryOf(5, 7), tryOf(null, 5)]).toEqual([1, 3, 1]))
