import { describe, expect, it } from 'vitest'
import { execution } from '../live/builders'
import { parametersOf, valuesSent } from './start-parameters'

const document = { parameters: { day: { type: 'string', default: '2013-01-01', description: 'The first day' }, limit: { type: 'integer', default: null }, dry: { type: 'boolean', default: false } } }
const job = { version: 2, document, latest_execution: null }

describe('what the fields of a start begin with', () => {
  it('is their defaults before the first start', () => {
    expect(parametersOf(job).map(({ name, value }) => [name, value])).toEqual([['day', '2013-01-01'], ['limit', undefined], ['dry', false]])
    expect(parametersOf(job)[0]).toMatchObject({ type: 'string', help: 'The first day', fallback: '2013-01-01' })
  })
  it('is what the last start had, while it ran the same version', () => {
    const latest_execution = { ...execution(), version: 2, parameters: { day: '2013-05-05', limit: 7, dry: true } }
    expect(parametersOf({ ...job, latest_execution }).map(({ value }) => value)).toEqual(['2013-05-05', 7, true])
  })
  it('is the new defaults after a publish, and the last values where there is no default', () => {
    const latest_execution = { ...execution(), version: 1, parameters: { day: '2013-05-05', limit: 7, dry: true, gone: 1 } }
    expect(parametersOf({ ...job, latest_execution }).map(({ value }) => value)).toEqual(['2013-01-01', 7, false])
  })
  it('is nothing for a job without parameters or without a version', () => {
    expect(parametersOf({ ...job, document: {} })).toEqual([])
    expect(parametersOf({ ...job, document: null })).toEqual([])
  })
})

it('empty fields are not sent, but for a text whose default is not empty', () => {
  expect(valuesSent(parametersOf(job), { day: '', limit: '', dry: false })).toEqual({ day: '', dry: false })
  expect(valuesSent(parametersOf(job), { day: '2013-02-02', limit: 0 })).toEqual({ day: '2013-02-02', limit: 0 })
})
