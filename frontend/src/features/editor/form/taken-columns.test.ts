import { expect, it } from 'vitest'
import { lacks, takenColumns } from './taken-columns'

const INCOMING = [{ name: 'id', type: 'bigint' }, { name: 'delay', type: 'smallint' }, { name: 'legs', type: 'array<struct<smallint:tinyint>>' }]

it('an empty list takes name and type of each column that comes in, as a list of columns writes them', () => {
  expect(takenColumns([], INCOMING)).toEqual([{ name: 'id', type: 'bigint' }, { name: 'delay', type: 'short' }, { name: 'legs', type: 'array<struct<smallint:byte>>' }])
})

it('what is there already stays as it was written, behind what comes in; a row without a name goes', () => {
  const rows = [{ name: 'late', type: 'boolean' }, { name: '', type: 'string' }, { name: 'ID', type: 'string' }]
  expect(takenColumns(rows, INCOMING).map(({ name, type }) => `${name} ${type}`)).toEqual(['ID string', 'delay short', 'legs array<struct<smallint:byte>>', 'late boolean'])
})

it('there is nothing to take where all of it is listed, or nothing is known to come in', () => {
  expect(lacks([{ name: 'late' }], INCOMING)).toBe(true)
  expect(lacks([{ name: 'ID' }, { name: 'delay' }, { name: 'legs' }, { name: 'late' }], INCOMING)).toBe(false)
  expect(lacks([], [])).toBe(false)
})
