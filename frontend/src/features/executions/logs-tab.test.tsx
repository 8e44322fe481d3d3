import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { BrowserRouter } from 'react-router'
import { beforeAll, expect, it, vi } from 'vitest'
import { execution } from '../../live/builders'
import shared from '../../shared/locales/en.json'
import executions from './locales/en.json'
import { LogsTab } from './logs-tab'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { shared, executions } } }))

const page = (message: string, offset: number) => ({ results: message ? [{ offset, time: '2025-03-01T12:00:01', level: 'INFO', node_id: '', message }] : [], next_offset: offset && 800, more: false, attempt: 1, attempts: [1] })

it('a line has its day, and those before the newest come on request, which ends the following', async () => {
  Element.prototype.scrollIntoView = vi.fn()
  vi.stubGlobal('fetch', (path: string) => Promise.resolve(new Response(JSON.stringify(path.includes('before=700') ? page('starting', 0) : page(path.includes('after=800') ? '' : 'slow', 700)))))
  render(
    <MantineProvider env="test">
      <BrowserRouter>
        <LogsTab execution={execution({ status: 'FAILED' })} nodeId="" nameOf={(id) => id} />
      </BrowserRouter>
    </MantineProvider>,
  )
  fireEvent.click(await screen.findByRole('button', { name: 'Earlier lines' }))
  expect(await screen.findByText('starting')).toBeVisible()
  expect(screen.getAllByText('2025-03-01 12:00:01')).toHaveLength(2)
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Earlier lines' })).toBeNull())
  expect(screen.getByLabelText('Follow')).not.toBeChecked()
})
