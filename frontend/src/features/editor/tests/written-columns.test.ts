import { expect, it } from 'vitest'
import { writtenColumns } from './written-columns'

it('columns are read as SQL writes them', () => {
  expect(writtenColumns("id bigint, `of ``all``, once` decimal(20,3),at: timestamp NOT NULL, in struct<a: string, b: array<int>>, s string COMMENT 'a, b'")).toEqual([
    { name: 'id', type: 'bigint' },
    { name: 'of `all`, once', type: 'decimal(20,3)' },
    { name: 'at', type: 'timestamp NOT NULL' },
    { name: 'in', type: 'struct<a: string, b: array<int>>' },
    { name: 's', type: "string COMMENT 'a, b'" },
  ])
})

it('what cannot be read yet is no column', () => {
  for (const text of ['', ' ', 'id', '`id', 'id bigint, ,', 'id bigint, zi']) expect(writtenColumns(text).length).toBe(text.startsWith('id b') ? 1 : 0)
})
