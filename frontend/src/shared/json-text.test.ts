import { describe, expect, it } from 'vitest'
import { exactJson, jsonPlace, prettyJson } from './json-text'

describe('JSON that is pasted', () => {
  it('keeps as text what a browser would round, and no other number', () => {
    expect(exactJson('[{"id": 9007199254740993, "in": [12345678901234567890.123456789, 1e999]}]')).toEqual([{ id: '9007199254740993', in: ['12345678901234567890.123456789', '1e999'] }])
    expect(exactJson('[9007199254740991, -0.1, 0.30000000000000004, 1e20, 1.50, "9007199254740993", true, null]')).toEqual([9007199254740991, -0.1, 0.30000000000000004, 1e20, 1.5, '9007199254740993', true, null])
  })

  it('cannot be read at a place that the browser tells, or does not', () => {
    expect(jsonPlace("Expected ',' in JSON at position 8 (line 2 column 7)")).toEqual({ line: 2, column: 7 })
    expect(jsonPlace('JSON.parse: unexpected character at line 1 column 9 of the JSON data')).toEqual({ line: 1, column: 9 })
    expect(jsonPlace('Unexpected end of JSON input')).toBeNull()
  })
})

describe('JSON that is laid out to be read', () => {
  it('keeps numbers as they were written', () => {
    expect(prettyJson('{"id":9007199254740993,"price":1.50,"name":"1e5"}')).toBe('{\n  "id": 9007199254740993,\n  "price": 1.50,\n  "name": "1e5"\n}')
  })

  it('leaves what is no JSON as it is', () => expect(prettyJson('{"id": 1, "cut')).toBe('{"id": 1, "cut'))
})
