import { expect, it } from 'vitest'
import { parseExact, typedNumber } from './exact-json'

it('what is read and written again is the same, however large its integers', () => {
  const text = '{"id":1234567890123456789,"in":[-9007199254740993,[9007199254740991]],"share":0.1234567890123456,"name":"1234567890123456789"}'
  expect(JSON.stringify(parseExact(text))).toBe(text)
})

it('only an integer that a number would change is a bigint', () => {
  expect(parseExact('[9007199254740991, 9007199254740993, 1e20, 0.30000000000000004]')).toEqual([9007199254740991, 9007199254740993n, 1e20, 0.30000000000000004])
})

it('what is no JSON is refused as ever', () => {
  expect(() => parseExact('{"id": 12345678901234567890')).toThrow(SyntaxError)
})

it('a typed number is exact, and what is none stays a text', () => {
  expect([' 7 ', '1.50', '-9007199254740993', '1e3', 'seven', ''].map(typedNumber)).toEqual([7, 1.5, -9007199254740993n, 1000, 'seven', ''])
})
