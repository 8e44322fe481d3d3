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

const shown = (change: object, metrics: Partial<MetricsMessage>) =>
  render(
    <MantineProvider env="test">
      <ExecutionStrip execution={{ status: 'RUNNING', job_type: 'STREAMING', resolved: {}, processed_records: 5, written_records: 5, failed_records: 0, dropped_records: 0, backpressure_status: '', buffer_size: null, lease_expires_at: null, ...change } as unknown as Execution} metrics={metrics as MetricsMessage} />
    </MantineProvider>,
  )

const underWay = { batch_id: 1300, since: new Date(Date.now() - 42_400).toISOString(), tasks_done: 120, tasks: 200, rows_in: 1000 }

it('says of a full buffer how much waits in it now, not what waited behind the last batch', () => {
  shown({ backpressure_status: 'HOLDING', buffer_size: 2000 }, { backlog: 0 })
  const backlog = screen.getByText('buffer full, holding back').closest('.pw-figure')
  expect(backlog).toHaveTextContent('2,000')
})

it('says of a batch under way how long it has been at work and how far it is', () => {
  shown({}, { batch_id: 1299, batch_ms: 900, under_way: underWay })
  const batch = screen.getByText('number 1,300, 120 of 200 tasks').closest('.pw-figure')
  expect(batch).toHaveTextContent(/4[2-4]/)
})

it('counts what has come of a batch under way, while it is', () => {
  const view = shown({}, { under_way: underWay })
  expect(screen.getByText('1,005')).toBeInTheDocument()
  view.unmount()
  shown({ status: 'FAILED' }, { under_way: underWay })
  expect(screen.queryByText('1,005')).not.toBeInTheDocument()
})

it('says of an execution that failed that the rows of its last batch, which the chart shows, are not counted', () => {
  const view = shown({ status: 'FAILED', processed_records: 0, written_records: 0 }, { in_per_second: 523 })
  expect(screen.getByText('only of what was written').closest('.pw-figure')).toHaveTextContent('Rows in')
  view.unmount()
  shown({ status: 'COMPLETED' }, {})
  expect(screen.queryByText('only of what was written')).not.toBeInTheDocument()
})

it('says of a query under way that it is, where nothing of it runs in Spark', () => {
  shown({ job_type: 'SQL_TASK' }, { under_way: { ...underWay, batch_id: 0, tasks_done: 0, tasks: 0 } })
  expect(screen.getByText('under way')).toBeInTheDocument()
})

it('tells the last batch once the execution does not run any more', () => {
  shown({ status: 'PAUSED' }, { batch_id: 1299, batch_ms: 900, under_way: underWay })
  expect(screen.getByText('number 1,299')).toBeInTheDocument()
})

it.each(['SCHEDULED', 'INITIALIZING'])('shows no rates and nothing under way where it is %s after it ran; totals stay', (status) => {
  shown({ status }, { batch_id: 1299, batch_ms: 900, in_per_second: 5000, out_per_second: 5000, under_way: underWay })
  expect(screen.queryByText(/per s|\/s/)).not.toBeInTheDocument()
  expect(screen.queryByText(/120 of 200/)).not.toBeInTheDocument()
  expect(screen.getAllByText('5')).toHaveLength(2)
})

it('shows nothing under way once its driver fell silent', () => {
  shown({ lease_expires_at: new Date(Date.now() - 60_000).toISOString() }, { in_per_second: 5000, under_way: underWay })
  expect(screen.queryByText(/120 of 200/)).not.toBeInTheDocument()
})
