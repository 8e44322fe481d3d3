import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it } from 'vitest'
import en from './locales/en.json'
import { RelativeTime } from './relative-time'

beforeAll(() => i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { shared: en } }, interpolation: { escapeValue: false } }))

const shown = (time: number | null) =>
  render(
    <MantineProvider>
      <RelativeTime time={time} />
    </MantineProvider>,
  )

it('the past is so long ago', () => {
  shown(Date.now() - 6 * 60_000 - 2_000)
  expect(screen.getByText('6 min ago')).toBeVisible()
})
it('the future is in so long', () => {
  shown(Date.now() + 7 * 60_000 + 20_000)
  expect(screen.getByText('in 7 min')).toBeVisible()
})
it('a server whose clock is a second ahead speaks of now', () => {
  shown(Date.now() + 900)
  expect(screen.getByText('0 s ago')).toBeVisible()
})
it('no time is a dash', () => {
  shown(null)
  expect(screen.getByText('–')).toBeVisible()
})
