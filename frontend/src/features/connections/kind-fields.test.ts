import { expect, it } from 'vitest'
import type { ConnectionKind } from '../../api/types'
import { fieldsOf, initialConfig, isShown } from './kind-fields'

const kind: ConnectionKind = {
  kind: 'http_api',
  title: 'HTTP API',
  icon: 'api',
  secrets: {},
  schema: {
    required: ['base_url'],
    properties: {
      user: { type: 'string', title: 'User', 'x-when': 'auth=basic', 'x-order': 2 },
      base_url: { type: 'string', title: 'Base url', 'x-order': 0 },
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
