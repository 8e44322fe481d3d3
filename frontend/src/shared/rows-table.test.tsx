// @vitest-environment jsdom
import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it } from 'vitest'
import en from './locales/en.json'
import { RowsTable } from './rows-table'

beforeAll(() => i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { shared: en } } }))

it('shows the beginning of a long value and says how long it is, of one that was cut before too', () => {
  const columns = [{ name: 'body', type: 'string' }]
  render(<RowsTable label="Rows" columns={columns} rows={[['x'.repeat(500)], ['y'.repeat(200)], ['z']]} cut={[{ row: 1, column: 'body', characters: 1048576 }]} empty="none" />)
  expect(screen.getAllByRole('cell').map((cell) => cell.textContent)).toEqual([`${'x'.repeat(120)}… 500 characters`, `${'y'.repeat(120)}… 1,048,576 characters`, 'z'])
})
