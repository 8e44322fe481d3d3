import { expect, it } from 'vitest'
import { slugOf } from './slug'

it.each([['Departures per hour', 'departures-per-hour'], ['  Été à Orly!  ', 'ete-a-orly'], ['航班', ''], ['--A--', 'a']])('%s becomes "%s"', (words, slug) => expect(slugOf(words)).toBe(slug))
it('a hyphen at the end goes', () => expect(slugOf('Bad Name!')).toBe('bad-name'))
it('a name is never longer than 200 letters', () => expect(slugOf('x'.repeat(300))).toHaveLength(200))
