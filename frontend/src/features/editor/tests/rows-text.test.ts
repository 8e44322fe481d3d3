import { describe, expect, it } from 'vitest'
import type { Row } from '../../../dag/document'
import { NoRows, rowsOfText, textOfRows } from './rows-text'

function refusal(read: () => unknown) {
  try {
    read()
  } catch (error) {
    if (error instanceof NoRows) return [error.reason, error.values]
  }
  return null
}

describe('rows as text', () => {
  it('reads what it writes, rows and batches', () => {
    const rows: Row[] = [{ id: 1, name: 'Ada' }, { id: 2, tags: ['x'] }]
    expect(textOfRows(rows)).toBe('[\n  {"id":1,"name":"Ada"},\n  {"id":2,"tags":["x"]}\n]')
    for (const given of [[], rows, [rows, []]]) expect(rowsOfText(textOfRows(given), [], true)).toEqual(given)
  })

  it('keeps numbers exact that a browser would round', () => {
    expect(rowsOfText('[{"id": 9007199254740993}]')).toEqual([{ id: '9007199254740993' }])
    expect(rowsOfText('{"id": 1}\n{"id": 9007199254740993}')).toEqual([{ id: 1 }, { id: '9007199254740993' }])
  })

  it('reads one object a line', () => {
    expect(rowsOfText('{"id": 1}\n{"id": 2}')).toEqual([{ id: 1 }, { id: 2 }])
  })

  it('reads CSV: numbers become numbers but in columns of text, quotes keep delimiters, nothing is null', () => {
    const text = 'id;zip;note\r\n1;01234;"a;b ""c"""\r\n2;10115;\r\n'
    expect(rowsOfText(text, [{ name: 'zip', type: 'string' }])).toEqual([
      { id: 1, zip: '01234', note: 'a;b "c"' },
      { id: 2, zip: '10115', note: null },
    ])
    expect(rowsOfText('a\tb\n007\ttrue')).toEqual([{ a: '007', b: true }])
  })

  it('keeps empty values at the end of the last line, as a spreadsheet copies them', () => {
    expect(rowsOfText('a,b\r\n1,2\r\n  ')).toEqual([{ a: 1, b: 2 }])
    expect(rowsOfText('\ufeffa\tb\tc\n1\t\t\n')).toEqual([{ a: 1, b: null, c: null }])
    expect(rowsOfText('\n a,b\n1, x ', [{ name: 'b', type: 'string' }])).toEqual([{ ' a': 1, b: ' x ' }])
  })

  it('takes quotes within a value as they are', () => {
    expect(rowsOfText('disk,n\n5" slim,1\n3" wide,2')).toEqual([
      { disk: '5" slim', n: 1 },
      { disk: '3" wide', n: 2 },
    ])
  })

  it('reads one object over several lines', () => {
    expect(rowsOfText('{\n  "id": 1,\n  "in": {"a": 2}\n}\n')).toEqual([{ id: 1, in: { a: 2 } }])
  })

  it('says why a text holds no rows', () => {
    expect(refusal(() => rowsOfText('a,b,a\n1,2,3'))).toEqual(['twice', { name: 'a' }])
    expect(refusal(() => rowsOfText('a,,\n1,2,3'))).toEqual(['unnamedTwice', { name: '' }])
    expect(refusal(() => rowsOfText('[1]'))).toEqual(['item', {}])
    expect(refusal(() => rowsOfText('[[{"a": 1}], 1]', [], true))).toEqual(['itemOrBatch', {}])
    expect(refusal(() => rowsOfText('a,b\n1'))).toEqual(['width', { line: 2, values: 1, columns: 2 }])
    expect(refusal(() => rowsOfText('a,b\n1,"x\n2,y\n'))).toEqual(['open', { line: 2 }])
    expect(refusal(() => rowsOfText('a,b\n1,"x\ny"\n2,"y"",3'))).toEqual(['open', { line: 4 }])
    expect(refusal(() => rowsOfText('nothing'))).toEqual(['oneLine', {}])
    expect(() => rowsOfText('[{')).toThrow()
  })
})

describe('the columns of CSV whose type nothing tells', () => {
  it('are text where one value is no number, or stands in quotes', () => {
    expect(rowsOfText('id,zip\n1,01234\n2,90210')).toEqual([{ id: 1, zip: '01234' }, { id: 2, zip: '90210' }])
    expect(rowsOfText('id,zip\n1,10115\n2,"90210"\n3,')).toEqual([{ id: 1, zip: '10115' }, { id: 2, zip: '90210' }, { id: 3, zip: null }])
    expect(rowsOfText('a,b\ntrue,true\nfalse,1')).toEqual([{ a: true, b: 'true' }, { a: false, b: '1' }])
  })

  it('are numbers where a program put everything into quotes', () => {
    expect(rowsOfText('"id","name"\n"1","Ada"\n"2",""')).toEqual([{ id: 1, name: 'Ada' }, { id: 2, name: '' }])
  })

  it('are text where a browser would round one of them', () => {
    expect(rowsOfText('n\n123456789012345.678\n1.5')).toEqual([{ n: '123456789012345.678' }, { n: '1.5' }])
  })
})

it('of columns whose type is known each value is read by it', () => {
  const columns = [{ name: 'sum', type: 'decimal(20,3)' }, { name: 'zip', type: 'varchar(5)' }]
  expect(rowsOfText('sum,zip\n123456789012345.678,90210\n1.5,"1"', columns)).toEqual([{ sum: '123456789012345.678', zip: '90210' }, { sum: 1.5, zip: '1' }])
  expect(rowsOfText('sum\n"1.5"\nx', columns)).toEqual([{ sum: 1.5 }, { sum: 'x' }])
})

it('an empty value of CSV is none, and an empty text in quotes where its column may be one', () => {
  const columns = [{ name: 'n', type: 'bigint' }, { name: 's', type: 'string' }]
  expect(rowsOfText('n,s,x\n1,"",""\n"",,\n"","",""', columns)).toEqual([{ n: 1, s: '', x: '' }, { n: null, s: null, x: null }, { n: null, s: '', x: '' }])
})
