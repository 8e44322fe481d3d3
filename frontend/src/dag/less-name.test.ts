import { expect, it } from 'vitest'
import { lessName } from './less-name'

it('a name before the sentence goes', () => expect(lessName('"Web html": GET /x answers 404', 'Web html')).toBe('GET /x answers 404'))
it('a name within the sentence stays', () => expect(lessName('"Web html" uses ${x}', 'Web html')).toBe('"Web html" uses ${x}'))
it('nothing is cut where no name is known', () => expect(lessName('"": odd', '')).toBe('"": odd'))
it('a name before a Chinese sentence goes, too', () => expect([lessName('"Web"：没有列', 'Web'), lessName('“Web”：没有列', 'Web')]).toEqual(['没有列', '没有列']))
