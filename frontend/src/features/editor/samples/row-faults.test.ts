import { describe, expect, it } from 'vitest'
import type { Problem } from '../../../dag/document'
import { textOfRows } from '../tests/rows-text'
import { faultPlace, lineIn, rowFaults, unreadablePlace } from './row-faults'

const problem = (pointer: string, message: string): Problem => ({ severity: 'error', code: 'sample.misfit', pointer, message })

describe('faults of sample rows', () => {
  it('are found among the problems of a preview, without what their place says already', () => {
    const found = rowFaults(
      [
        problem('/samples/shop/rows/1/a~1b', 'sample rows of Shop, row 2, column a/b: "x" is no int: it takes a whole number'),
        problem('/samples/shop/rows/3/odd', 'sample rows of Shop, row 4, column odd: there is no column odd; the columns are id'),
        problem('/samples/other/rows/0/id', 'sample rows of Other, row 1, column id: …'),
        problem('/samples/shop/columns', 'the columns of the sample rows of Shop: they cannot be read'),
        problem('/nodes/shop/config/path', 'the file is missing'),
      ],
      'shop',
    )
    expect(found).toEqual([
      { row: 1, column: 'a/b', words: '"x" is no int: it takes a whole number' },
      { row: 3, column: 'odd', words: 'there is no column odd; the columns are id' },
    ])
  })

  it('stand at the value of their column, whatever is in it', () => {
    const text = textOfRows([{ id: 1 }, { note: 'a, "b"}', list: [{ x: 1 }, 2], id: 'one' }])
    const shown = (column: string, row = 1) => {
      const { from, to } = faultPlace(text, { row, column, words: '' })
      return text.slice(from, to)
    }
    expect(shown('note')).toBe('"note":"a, \\"b\\"}"')
    expect(shown('list')).toBe('"list":[{"x":1},2]')
    expect(shown('id')).toBe('"id":"one"')
    expect(shown('id', 0)).toBe('"id":1')
  })

  it('stand at the whole row where it has no such column', () => {
    const text = textOfRows([{ id: 1 }])
    const { from, to } = faultPlace(text, { row: 0, column: 'gone', words: '' })
    expect(text.slice(from, to)).toBe('{"id":1}')
  })

  it('of text that is no JSON stand at the line that the browser names', () => {
    expect(lineIn('Unexpected token in JSON at position 8 (line 2 column 7)')).toBe(2)
    expect(unreadablePlace('[\n{"a": }\n]', 2, 'why')).toEqual({ from: 2, to: 9, words: 'why' })
    expect(unreadablePlace('[1]', lineIn('each item is a row'), 'why')).toBeNull()
  })
})
