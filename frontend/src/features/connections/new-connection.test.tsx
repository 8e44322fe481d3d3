import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { sentencesReady } from '../../api/sentences/said'
import type { ConnectionKind } from '../../api/types'
import NewConnection from './new-connection'

const kind = (name: string, more: Partial<ConnectionKind>) => ({ kind: name, title: name, icon: 'plug', available: true, unavailable_reason: '', ...more }) as ConnectionKind

afterEach(() => {
  document.documentElement.lang = 'en'
})

it('says in the language of the page why a kind cannot be chosen, and begins at the first that can', async () => {
  document.documentElement.lang = 'zh'
  await sentencesReady()
  const away = kind('jdbc', { available: false, unavailable_reason: 'no JDBC driver is allowed here; an administrator lists them in the file that JDBC_DRIVERS names' })
  render(
    <MantineProvider env="test">
      <NewConnection kinds={[away, kind('kafka', {})]} onClose={vi.fn()} onSaved={vi.fn()} />
    </MantineProvider>,
  )
  expect(screen.getByRole('button', { name: 'jdbc' }).title).toMatch(/^此处不允许/)
  expect(screen.getByRole('button', { name: 'kafka' })).toHaveAttribute('data-autofocus')
})

it('a pasted key does not go by Escape', () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"results": []}')))
  const onClose = vi.fn()
  const kafka = kind('kafka', { secrets: { key: 'Key' }, secrets_when: {}, secrets_of_lines: [], schema: { properties: {} } })
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <NewConnection kinds={[kafka]} onClose={onClose} onSaved={vi.fn()} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  fireEvent.click(screen.getByRole('button', { name: 'kafka' }))
  const escape = () => fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' })
  escape()
  expect(onClose).toHaveBeenCalledOnce()
  fireEvent.change(screen.getByLabelText('Key'), { target: { value: '-----BEGIN' } })
  escape()
  expect(onClose).toHaveBeenCalledOnce()
})
