import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it, vi } from 'vitest'
import { execution } from '../../live/builders'
import shared from '../../shared/locales/en.json'
import { ExpectationsTab } from './expectations-tab'
import executions from './locales/en.json'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { shared, executions } } }))

const rule = { node_id: 'ask', node_name: 'Ask', rule: 'sane', action: 'fail', checked: 200, broken: 0, share: 0, ended: true }

it('a node has its score, and the rule that ended the run says so', async () => {
  const scores = [{ node_id: 'ask', node_name: 'Ask', checked: 200, score: 0.99999 }, { node_id: 'other', node_name: 'Other', checked: 0, score: null }]
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ results: [rule], scores }))))
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <ExpectationsTab execution={execution()} nodeId="" />
      </QueryClientProvider>
    </MantineProvider>,
  )
  expect(await screen.findByText('Ask: 99.99 % of all checks were kept')).toBeVisible()
  expect(screen.queryByText(/^Other:/)).toBeNull()
  expect(screen.getByText('ended the run')).toBeVisible()
})
