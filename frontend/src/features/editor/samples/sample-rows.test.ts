import { describe, expect, it } from 'vitest'
import type { Sample } from '../../../api/types'
import { columnsText, givenOf, rowsOfSide, sampleOfSide, stampOf } from './sample-rows'

const kept = (revision: string): Sample => ({ columns: 'id int', rows: [{ id: 1 }], by_hand: true, taken_at: '2026-01-31T12:00:00Z', taken_by: 'erin', revision })
const side = {
  columns: [
    { name: 'id', type: 'int', nullable: true },
    { name: 'a b', type: 'string', nullable: true },
  ],
  rows: [[1, 'x'], [2]],
  more: false,
  cut: [],
}

describe('sample rows', () => {
  it('are made of a table that a preview shows', () => {
    expect(rowsOfSide(side)).toEqual([{ id: 1, 'a b': 'x' }, { id: 2, 'a b': null }])
    expect(sampleOfSide(side).columns).toEqual([{ name: 'id', type: 'int' }, { name: 'a b', type: 'string' }])
    expect(rowsOfSide(undefined)).toEqual([])
  })

  it('are not made of values that were cut to be shown', () => {
    const cut = { ...side, rows: [[1, 'x…']], cut: [{ row: 0, column: 'a b', characters: 1048576 }] }
    expect(() => sampleOfSide(cut)).toThrow()
  })

  it('have their columns written as SQL, quoted where they have to be', () => {
    expect(columnsText(side.columns)).toBe('id int, `a b` string')
    expect(columnsText([{ name: 'a`b', type: 'int' }])).toBe('`a``b` int')
    expect(columnsText('id int')).toBe('id int')
  })

  it('go to a preview for the sources above it alone, and other rows make another preview', () => {
    const samples = { shop: kept('a'), far: kept('b') }
    expect(givenOf(samples, ['shop', 'read'])).toEqual({ shop: { columns: 'id int', rows: [{ id: 1 }] } })
    expect(stampOf(samples, ['read', 'shop'])).toBe('read= shop=a')
    expect(stampOf({ ...samples, shop: kept('c') }, ['read', 'shop'])).not.toBe(stampOf(samples, ['read', 'shop']))
    expect(stampOf({ ...samples, far: kept('c') }, ['read', 'shop'])).toBe(stampOf(samples, ['read', 'shop']))
  })
})
