import { expect, it } from 'vitest'
import { connectionPlace } from './connection-place'

it.each([
  [{ host: 'db', port: 5432, database: 'shop' }, 'db:5432/shop'],
  [{ host: 'mail' }, 'mail'],
  [{ servers: 'a:9092,b:9092' }, 'a:9092,b:9092'],
  [{ bucket: 'lake', folder: 'in' }, 'lake/in'],
  [{ folder: '/upload/in', options: [{ name: 'host', value: 'files' }, { name: 'port', value: '22' }] }, 'files:22/upload/in'],
  [{ folder: 'bucket/in', options: [] }, 'bucket/in'],
  [{}, ''],
])('%j is at %s', (config, place) => {
  expect(connectionPlace({ config })).toBe(place)
})
