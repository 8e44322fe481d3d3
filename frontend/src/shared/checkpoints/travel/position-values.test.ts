import { expect, it } from 'vitest'
import { leavesOf, nameOf, written } from './position-values'

const kafka = { orders: { '0': 50, '1': 60 }, refunds: { '0': 7 } }

it('a position is taken apart into its numbers and texts', () => {
  expect(leavesOf(kafka).map(({ path, value }) => [nameOf(path), value])).toEqual([['orders / 0', 50], ['orders / 1', 60], ['refunds / 0', 7]])
  expect(leavesOf({ key: null })).toEqual([{ path: ['key'], value: null }])
})
it('what is typed takes the place of what stood there, the rest stays', () => {
  expect(written(kafka, { 'orders / 1': ' 12 ' })).toEqual({ orders: { '0': 50, '1': 12 }, refunds: { '0': 7 } })
  expect(kafka.orders['1']).toBe(60)
})
it('a text stays a text, a number a number, an empty field is none', () => {
  expect(written({ key: '100' }, { key: '50' })).toEqual({ key: '50' })
  expect(written({ key: 100 }, { key: '50' })).toEqual({ key: 50 })
  expect(written({ key: null }, { key: '50' })).toEqual({ key: 50 })
  expect(written({ key: 100 }, { key: '' })).toEqual({ key: null })
  expect(written({ next: 100 }, { next: 'x' })).toEqual({ next: 'x' })
})
it('a position of any length is kept to its last digit', () => {
  expect(written({ lsn: 100n }, { lsn: '9007199254740993' })).toEqual({ lsn: 9007199254740993n })
})
