import { expect, it } from 'vitest'
import { linkOf, type Connectivity } from './link-state'

const lost: Connectivity = { open: false, lastOpenAt: 1_000, startedAt: 0, attempt: 2, onLine: true }

it('an open socket is live', () => expect(linkOf(99_000, { ...lost, open: true })).toEqual({ kind: 'live' }))
it('a short silence is a reconnection', () => expect(linkOf(5_000, lost)).toEqual({ kind: 'reconnecting', attempt: 2 }))
it('a long silence says its age', () => expect(linkOf(35_000, lost)).toEqual({ kind: 'stale', seconds: 34 }))
it('without a network everything is offline', () => expect(linkOf(5_000, { ...lost, onLine: false })).toEqual({ kind: 'offline' }))
