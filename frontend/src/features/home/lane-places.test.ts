import { expect, it } from 'vitest'
import type { Lane } from '../../api/types'
import { axisTimes, placeOf, worstFirst } from './lane-places'

const now = Date.parse('2026-11-21T12:00:00Z')

it('an execution that still runs reaches to now', () => {
  expect(placeOf({ from: '2026-11-21T06:00:00Z', to: null }, now)).toEqual({ left: 75, width: 25 })
})
it('one that began the day before begins at the left edge', () => {
  expect(placeOf({ from: '2026-11-19T06:00:00Z', to: '2026-11-20T18:00:00Z' }, now)).toEqual({ left: 0, width: 25 })
})
it('one that ended before is not drawn', () => {
  expect(placeOf({ from: '2026-11-18T06:00:00Z', to: '2026-11-19T18:00:00Z' }, now)).toBeNull()
})
it('a short one stays wide enough to be hit, inside the lane', () => {
  const place = placeOf({ from: '2026-11-21T11:59:59Z', to: '2026-11-21T12:00:00Z' }, now)
  expect(place && place.left + place.width).toBeCloseTo(100)
  expect(place?.width).toBeGreaterThan(0.5)
})
it('the axis ends now', () => expect(axisTimes(now).at(-1)).toEqual({ time: now, left: 100 }))
it('failed lanes come first', () => {
  const lane = (job_name: string, status: 'FAILED' | 'RUNNING' | 'COMPLETED'): Lane => ({ job_name, title: '', in_per_second: null, spans: [{ from: '', to: null, status, execution_id: job_name }] })
  expect(worstFirst([lane('a', 'COMPLETED'), lane('b', 'RUNNING'), lane('c', 'FAILED')]).map((one) => one.job_name)).toEqual(['c', 'b', 'a'])
})
