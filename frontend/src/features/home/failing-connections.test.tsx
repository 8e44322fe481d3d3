import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { MemoryRouter } from 'react-router'
import { expect, it } from 'vitest'
import type { ConnectionHealth } from '../../api/types'
import shared from '../../shared/locales/zh.json'
import { FailingConnections } from './failing-connections'
import home from './locales/zh.json'

await i18next.use(initReactI18next).init({ lng: 'zh', resources: { zh: { home, shared } }, interpolation: { escapeValue: false } })

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 5_000).toISOString()
const failing = { id: 1, name: 'pg', kind: 'postgresql', jobs_using: 1, test_step: 'port', test_message: 'it does not answer', test_time: minutesAgo(2), failing_since: minutesAgo(9) } as unknown as ConnectionHealth

it('a connection fails for so long, and was checked so long ago', () => {
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <FailingConnections connections={[failing]} total={1} />
      </MemoryRouter>
    </MantineProvider>,
  )
  expect(screen.getByText('9 分钟')).toBeVisible()
  expect(screen.getByText(/^检查于/)).toHaveTextContent('检查于 2 分钟前')
})
