import { expect, it } from 'vitest'
import { covers } from './use-may'

it('an editor may operate', () => expect(covers('EDITOR', 'OPERATOR')).toBe(true))
it('a viewer may only look', () => expect([covers('VIEWER', 'VIEWER'), covers('VIEWER', 'OPERATOR')]).toEqual([true, false]))
it('who is no member may nothing', () => expect(covers(undefined, 'VIEWER')).toBe(false))
