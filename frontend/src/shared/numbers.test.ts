import i18next from 'i18next'
import { beforeAll, describe, expect, it } from 'vitest'
import english from './locales/en.json'
import chinese from './locales/zh.json'
import { bytes, count, duration, percent, rate, short, shortDuration, span } from './numbers'

beforeAll(() => void i18next.init({ lng: 'en', resources: { en: { shared: english }, zh: { shared: chinese } } }))

describe('figures', () => {
  it.each([[0, '0'], [1204, '1,204'], [41_208_377, '41,208,377'], [null, '–']])('counts %s as %s', (value, words) => expect(count(value)).toBe(words))
  it.each([[12_480, '12.5k'], [701_526, '702k'], [999_950, '1M'], [0, '0'], [2.24, '2.2'], [null, '–']])('shortens %s to %s', (value, words) => expect(short(value)).toBe(words))
  it.each([[0.42, '0.4'], [9.99, '10'], [12_480.4, '12,480'], [0, '0']])('writes the rate %s as %s', (value, words) => expect(rate(value)).toBe(words))
  it.each([[412, '412 B'], [412_000, '412 kB'], [18_400_000, '18.4 MB'], [9_420_000_000, '9.42 GB'], [0, '0 B']])('writes %s bytes as %s', (value, words) => {
    const { value: figure, unit } = bytes(value)
    expect(`${figure} ${unit}`).toBe(words)
  })
  it.each([[412, '412 ms'], [8600, '8.6 s'], [30_000, '30 s'], [724_000, '12 min 4 s'], [14_220_000, '3 h 57 min'], [3_600_000, '1 h']])('writes %s ms as %s', (value, words) => expect(duration(value)).toBe(words))
  it.each([[412, '412 ms'], [8600, '8.6 s'], [90_000, '90 s'], [100_000, '1.7 min'], [14_220_000, '4 h'], [null, '–']])('writes %s ms on an axis as %s', (value, words) => expect(shortDuration(value)).toBe(words))
  it.each([[34_500, '34 s'], [360_000, '6 min'], [90_000_000, '1 d']])('spans %s ms as %s', (value, words) => {
    const { value: figure, unit } = span(value)
    expect(`${figure} ${unit}`).toBe(words)
  })
  it.each([[1204, 41_208_377, '0.003 %'], [0, 10, '0 %'], [1, 4, '25 %'], [1, 0, '–']])('%s of %s is %s', (part, whole, words) => expect(percent(part, whole)).toBe(words))
})

it('writes a duration in the reader\'s language', async () => {
  await i18next.changeLanguage('zh')
  expect(duration(789_000)).toBe('13 分钟 9 秒')
  expect(duration(412)).toBe('412 毫秒')
})
