import i18next from 'i18next'
import { beforeAll, expect, it } from 'vitest'
import shared from './locales/en.json'
import { wordsInZone } from './words-in-zone'

beforeAll(() => void i18next.init({ lng: 'en', resources: { en: { shared } } }))

it('the words of a schedule name its zone where that is not the reader’s', () => {
  const mine = Intl.DateTimeFormat().resolvedOptions().timeZone
  const words = 'At 06:00 every day'
  expect(wordsInZone(i18next.t, { words, time_zone: mine })).toBe(words)
  expect(wordsInZone(i18next.t, { words, time_zone: 'Asia/Tokyo' })).toBe('At 06:00 every day, Asia/Tokyo')
})
