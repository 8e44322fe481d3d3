import { expect, it } from 'vitest'
import { event, execution } from '../live/builders'
import { isRetrying, ranFor, tryOf, waitsOutOutage } from './execution-state'

const now = Date.parse('2026-11-21T10:10:00Z')
const start_time = '2026-11-21T10:00:00Z'

it('a running one has run until now', () => expect(ranFor(execution({ start_time }), now)).toBe(600_000))
it('an ended one as long as it ran', () => expect(ranFor(execution({ start_time, status: 'COMPLETED', end_time: '2026-11-21T10:08:00Z', duration_ms: 120_000 }), now)).toBe(120_000))
it('a paused one until its pause began', () => expect(ranFor(execution({ start_time, status: 'PAUSED', duration_ms: 12_000 }), now)).toBe(12_000))
it('a resumed one without its pause', () => expect(ranFor(execution({ start_time, resume_time: '2026-11-21T10:09:30Z', duration_ms: 12_000 }), now)).toBe(42_000))
it('one that never began has not run', () => expect(ranFor(execution(), now)).toBeNull())

it('a try is counted from the first one of its execution', () => expect([tryOf(5, 5), tryOf(5, 7), tryOf(null, 5)]).toEqual([1, 3, 1]))

it('one that waits for its next attempt retries, one that waits for its first does not', () => {
  expect(isRetrying(execution({ status: 'SCHEDULED', next_attempt_at: start_time }))).toBe(true)
  expect(isRetrying(execution({ status: 'SCHEDULED' }))).toBe(false)
})

it('an outage of another system is told from a retry, also where retries were used up before', () => {
  const waits = (retry_count: number, detail: object, newer = {}) => waitsOutOutage(execution({ status: 'SCHEDULED', next_attempt_at: start_time, retry_count }), [event(9), event(8, { kind: 'attempt_failed', detail: { ...detail }, ...newer }), event(7, { kind: 'attempt_failed', detail: { outages: 1 } })])
  expect([waits(0, {}), waits(2, { outages: 1 }), waits(2, {}), waits(2, {}, { kind: 'lease_lost' })]).toEqual([true, true, false, false])
})
