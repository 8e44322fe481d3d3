import { expect, it } from 'vitest'
import type { ConnectionKind } from '../../api/types'
import { fieldsOf, initialConfig, isFolded, isShown, secretsSent, secretsShown } from './kind-fields'

const kind: ConnectionKind = {
  kind: 'http_api',
  title: 'HTTP API',
  icon: 'api',
  available: true,
  unavailable_reason: '',
  secrets: { password: 'Password', token: 'Token' },
  secrets_when: { password: 'auth=basic', token: 'auth=bearer' },
  secrets_of_lines: [],
  schema: {
    required: ['base_url'],
    properties: {
      user: { type: 'string', title: 'User', 'x-when': 'auth=basic', 'x-order': 2 },
      base_url: { type: 'string', title: 'Base URL', 'x-order': 0 },
      auth: { type: 'string', enum: ['none', 'basic'], default: 'none', 'x-order': 1 },
    },
  },
}

it('fields stand in the order of their kind', () => expect(fieldsOf(kind).map((field) => field.name)).toEqual(['base_url', 'auth', 'user']))
it('defaults are filled in', () => expect(initialConfig(fieldsOf(kind))).toEqual({ auth: 'none' }))
it('a field that depends on another shows only with its value', () => {
  const user = fieldsOf(kind)[2]
  expect(user && isShown(user, { auth: 'none' })).toBe(false)
  expect(user && isShown(user, { auth: 'basic' })).toBe(true)
})
it('an advanced field stands with the others while the choice that needs it is made', () => {
  const properties = { authority: { type: 'string', 'x-advanced': true, 'x-unfolds': 'tls=require|verify-full' }, timeout: { type: 'integer', 'x-advanced': true }, tls: { type: 'string' } }
  const folded = (tls: string) => fieldsOf({ ...kind, schema: { properties } }).filter((field) => isFolded(field, { tls })).map((field) => field.name)
  expect(folded('prefer')).toEqual(['authority', 'timeout'])
  expect(folded('verify-full')).toEqual(['timeout'])
})
it('only the secrets of the chosen way of signing in show', () => {
  expect(secretsShown(kind, { auth: 'none' })).toEqual([])
  expect(secretsShown(kind, { auth: 'basic' })).toEqual(['password'])
  expect(secretsShown({ ...kind, secrets_when: {} }, { auth: 'none' })).toEqual(['password', 'token'])
})
it('a secret that is not needed any more goes, and one typed before the choice changed is not sent', () => {
  expect(secretsSent(kind, { auth: 'basic' }, { password: 'p', token: 't' }, { password: false, token: true })).toEqual({ password: 'p', token: null })
  expect(secretsSent(kind, { auth: 'basic' }, { password: '' }, { password: true, token: false })).toEqual({})
})
