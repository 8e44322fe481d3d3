// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it } from 'vitest'
import type { Execution } from '../../api/types'
import type { MetricsMessage } from '../../live/messages'
import shared from '../../shared/locales/en.json'
import { ExecutionStrip } from './execution-strip'
import executions from './locales/en.json'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { executions, shared } } }))

it('says of a full buffer how much waits in it now, not what waited behind the last batch', () => {
  const execution = { status: 'RUNNING', job_type: 'STREAMING', resolved: {}, processed_records: 5, written_records: 5, failed_records: 0, dropped_records: 0, backpressure_status: 'HOLDING', buffer_size: 2000 } as unknown as Execution
  render(
    <MantineProvider env="test">
      <ExecutionStrip execution={execution} metrics={{ backlog: 0 } as MetricsMessage} />
    </MantineProvider>,
  )
  const backlog = screen.getByText('buffer full, holding back').closest('.pw-figure')
  expect(backlog).toHaveTextContent('2,000')
})
