import { expect, it } from 'vitest'
import { reasonFirst } from './reason-first'

const column = (name: string) => ({ name, type: 'string', nullable: true })

it('the reason of a rejected row stands before its columns', () => {
  const side = { columns: [column('id'), column('rejected_reason')], rows: [['1', 'it breaks the rule'], ['2', null]], more: false, cut: [] }
  const { columns, rows } = reasonFirst(side)
  expect(columns.map(({ name }) => name)).toEqual(['rejected_reason', 'id'])
  expect(rows).toEqual([['it breaks the rule', '1'], [null, '2']])
})

it('rows without a reason stay as they are', () => {
  const side = { columns: [column('id')], rows: [['1']], more: false, cut: [] }
  expect(reasonFirst(side)).toBe(side)
})
