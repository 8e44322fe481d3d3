import { expect, it } from 'vitest'
import { stacked, withGaps } from './chart-data'

it('stacks each series on those before it', () => {
  expect(stacked([[1, 2], [10, 20], [100, null]])).toEqual([[1, 2], [11, 22], [111, 22]])
})

it('leaves a gap where two samples are far apart', () => {
  const { times, values } = withGaps([1_000, 2_000, 90_000], [[5, 6, 7]], 30_000)
  expect(times).toEqual([1_000, 2_000, 2_001, 90_000])
  expect(values).toEqual([[5, 6, null, 7]])
})

it('leaves a gap where a line was ended between two samples, however close they are', () => {
  const { times, values } = withGaps([1_000, 2_000, 5_000], [[5, 6, 7]], 30_000, [3_000])
  expect(times).toEqual([1_000, 2_000, 2_001, 5_000])
  expect(values).toEqual([[5, 6, null, 7]])
})
