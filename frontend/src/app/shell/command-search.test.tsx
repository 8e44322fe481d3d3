import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { MemoryRouter } from 'react-router'
import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import app from '../locales/en.json'
import { CommandSearch } from './command-search'

const onClose = vi.fn()

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', defaultNS: 'app', resources: { en: { app } } }))

beforeEach(() => {
  onClose.mockClear()
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"results": []}')))
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <MemoryRouter>
          <CommandSearch opened onClose={onClose} onShortcuts={vi.fn()} />
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  )
})

const field = () => screen.getByRole('combobox')
const chosen = () => screen.getByRole('option', { selected: true })

it('an arrow key brings what it chooses into sight', () => {
  const shown = vi.spyOn(Element.prototype, 'scrollIntoView')
  fireEvent.keyDown(field(), { key: 'ArrowUp' })
  expect(chosen()).toBe(screen.getAllByRole('option').at(-1))
  expect(shown.mock.contexts.at(-1)).toBe(chosen())
  shown.mockRestore()
})

it('keys of an input method are left to it', () => {
  const first = chosen()
  fireEvent.keyDown(field(), { key: 'ArrowDown', isComposing: true })
  fireEvent.keyDown(field(), { key: 'Enter', isComposing: true })
  expect([chosen(), onClose.mock.calls]).toEqual([first, []])
  fireEvent.keyDown(field(), { key: 'Enter' })
  expect(onClose).toHaveBeenCalledOnce()
})
