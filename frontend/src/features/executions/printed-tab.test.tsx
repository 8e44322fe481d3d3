import { render, screen, within } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it } from 'vitest'
import type { Printed } from '../../live/execution-state'
import executions from './locales/en.json'
import { PrintedTab } from './printed-tab'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { executions } } }))

const printed: Printed[] = [
  { nodeId: 'a', batchId: 1, row: '{"id":1,"note":"first"}' },
  { nodeId: 'a', batchId: 1, row: '{"id":9007199254740993,"note":null}' },
  { nodeId: 'b', batchId: 1, row: '{"total":2.5}' },
  { nodeId: 'a', batchId: 2, row: '{"id":3,"late":true}' },
  { nodeId: 'a', batchId: 2, row: '{"id":4,"no' },
]
const tab = (nodeId = '', rows = printed) => <PrintedTab printed={rows} nodeId={nodeId} nameOf={(id) => `Name of ${id}`} over={false} />
const cells = (name: string) => within(screen.getByRole('region', { name })).getAllByRole('row').map((row) => [...row.children].map((cell) => cell.textContent))

it('each sink has a table of its own with the newest batch first', () => {
  render(tab())
  expect(cells('Name of a')).toEqual([
    ['Batch', 'id', 'note', 'Row', 'late'],
    ['2', '3', '', '', 'true'],
    ['2', '', '', '{"id":4,"no', ''],
    ['1', '1', 'first', '', ''],
    ['1', '9007199254740993', 'null', '', ''],
  ])
  expect(cells('Name of b')).toEqual([['Batch', 'total'], ['1', '2.5']])
})

it('of the sink that is chosen alone', () => {
  render(tab('b'))
  expect(screen.queryByRole('region', { name: 'Name of a' })).toBeNull()
  expect(screen.getByRole('region', { name: 'Name of b' })).toBeVisible()
})

it('without rows it says so', () => {
  render(tab('', []))
  expect(screen.getByText('Nothing printed yet')).toBeVisible()
})
