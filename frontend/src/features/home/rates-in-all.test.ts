import { expect, it } from 'vitest'
import { execution } from '../../live/builders'
import type { RatesMessage } from '../../live/messages'
import { ratesInAll } from './rates-in-all'

const AT = '2026-11-21T10:00:00Z'
const now = Date.parse(AT)
const overview = { in_per_second: 1100, out_per_second: 1000, rejected_per_second: 10 }
const running = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, execution({ execution_id: id })]))
const told = (id: string, rows: number): RatesMessage => ({ type: 'rates', time: AT, execution_id: id, job_name: id, in_per_second: rows, out_per_second: rows, rejected_per_second: 0, backlog: null })
const rates = { fast: told('fast', 100), slow: told('slow', 1000) }

it('what was told of some of those that run does not pass for the sum', () => {
  expect(ratesInAll({ executions: running('fast', 'slow'), rates: { fast: rates.fast } }, overview, now)).toEqual({ in: 1100, out: 1000, rejected: 10 })
})

it('of each that runs the live rate counts once all have spoken', () => {
  expect(ratesInAll({ executions: running('fast', 'slow'), rates }, { ...overview, in_per_second: 7 }, now).in).toBe(1100)
})

it('what waits for its next attempt adds nothing, whatever it said last', () => {
  const executions = { ...running('fast'), slow: execution({ execution_id: 'slow', status: 'SCHEDULED' }) }
  expect(ratesInAll({ executions, rates }, overview, now).in).toBe(100)
})

it('whose driver fell silent adds nothing', () => {
  const executions = { ...running('fast'), slow: execution({ execution_id: 'slow', lease_expires_at: '2026-11-21T09:59:00Z' }) }
  expect(ratesInAll({ executions, rates }, overview, now).in).toBe(100)
  expect(ratesInAll({ executions: running('fast', 'slow'), rates }, overview, now + 180_000).in).toBe(0)
})
