import { expect, it } from 'vitest'
import { sqlOffers } from './sql-completion'

const column = (name: string) => ({ name, type: 'bigint' })
const TABLES = [
  { name: 'flights', columns: [column('carrier'), column('delay')] },
  { name: 'airlines', columns: [column('carrier'), column('name')] },
]
const ALL = [column('carrier'), column('delay'), column('name')]

/** What is offered where | stands. */
function offered(text: string, asked = false): string[] | null {
  const at = text.indexOf('|')
  return sqlOffers(text.replace('|', ''), at, asked, ALL, TABLES)?.options.map(({ label }) => label) ?? null
}

it('behind the alias of an input its columns are offered', () => {
  expect(offered('select * from flights f where f.|')).toEqual(['carrier', 'delay'])
  expect(offered('select f.| from flights as f')).toEqual(['carrier', 'delay'])
  expect(offered('select a.na| from flights f join airlines a using (carrier)')).toEqual(['carrier', 'name'])
  expect(offered('select a.| from flights f, airlines a')).toEqual(['carrier', 'name'])
  expect(offered('select airlines.| from airlines where true')).toEqual(['carrier', 'name'])
})

it('behind a name that is not known all columns are offered', () => expect(offered('with x as (select 1) select x.| from x')).toEqual(['carrier', 'delay', 'name']))

it('behind FROM and JOIN the inputs are offered', () => {
  expect(offered('select * from |')).toEqual(['flights', 'airlines'])
  expect(offered('SELECT * FROM flights f JOIN air|')).toEqual(['flights', 'airlines'])
  expect(offered('select * from flights f, |')).toEqual(['flights', 'airlines'])
})

it('elsewhere columns come before functions, once a word begins or when they are asked for', () => {
  expect(offered('select |')).toBeNull()
  expect(offered('select |', true)?.slice(0, 4)).toEqual(['carrier', 'delay', 'name', 'abs'])
  expect(offered('select * from flights f where c|')?.[0]).toBe('carrier')
})
