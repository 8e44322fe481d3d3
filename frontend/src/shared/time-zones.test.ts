import { expect, it } from 'vitest'
import { timeZones } from './time-zones'

it('a time zone is found under its name of today, once', () => expect(timeZones('Asia/Kolkata').filter((zone) => zone === 'Asia/Kolkata')).toHaveLength(1))

it('the one that is chosen can be shown, whatever it is called', () => {
  expect(timeZones('US/Eastern')).toContain('US/Eastern')
  expect(timeZones('UTC').filter((zone) => zone === 'UTC')).toHaveLength(1)
  expect(timeZones('')).not.toContain('')
})
