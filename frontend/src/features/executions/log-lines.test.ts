import { expect, it } from 'vitest'
import { noLines, withEarlier, withNewer } from './log-lines'

const lines = (from: number, count: number) => Array.from({ length: count }, (_, index) => ({ offset: from + index, time: null, level: 'INFO', node_id: '', message: '' }))
const earlierPage = { results: lines(2_000, 1_000), next_offset: 2_000, more: true, attempt: 1, attempts: [1] }

it('before the end of a log there is more, unless it is all of it', () => {
  expect(withNewer(noLines(false), lines(3_000, 10)).earlier).toBe(3_000)
  expect(withNewer(noLines(false), lines(0, 10)).earlier).toBe(0)
})

it('what was read from the beginning has nothing before it, until it is too much to be kept', () => {
  const found = withNewer(noLines(true), lines(500, 2_000))
  expect(found.earlier).toBe(0)
  const more = withNewer(found, lines(2_500, 2_000))
  expect([more.lines.length, more.earlier]).toEqual([3_000, 1_500])
})

it('lines that were asked for stay as those of others come', () => {
  const shown = withEarlier(withNewer(noLines(false), lines(3_000, 3_000)), earlierPage)
  expect([shown.lines.length, shown.earlier]).toEqual([4_000, 2_000])
  expect(withNewer(shown, lines(6_000, 10)).lines).toHaveLength(4_000)
})

it('a log that was begun anew has lost what stood before', () => {
  const anew = withNewer(withNewer(noLines(false), lines(9_000, 10)), lines(0, 5))
  expect([anew.lines.length, anew.earlier]).toEqual([15, 0])
})
