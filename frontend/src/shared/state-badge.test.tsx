import { render, screen } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { beforeAll, expect, it } from 'vitest'
import { execution } from '../live/builders'
import { ExecutionBadge } from './execution-badge'
import zh from './locales/zh.json'
import { StateBadge } from './state-badge'

beforeAll(() => i18next.use(initReactI18next).init({ lng: 'zh', resources: { zh: { shared: zh } } }))

it('a state is told in the language of the page', () => {
  render(<ExecutionBadge execution={execution({ status: 'PAUSED', shown_status: 'PAUSED' })} />)
  expect(screen.getByText('已暂停')).toBeVisible()
})

it('an unconfirmed state too', () => {
  render(<ExecutionBadge long execution={execution({ lease_expires_at: new Date(Date.now() - 60_000).toISOString() })} />)
  expect(screen.getByText('运行中, 未确认')).toBeVisible()
})

it('a state without words is said as it is', () => {
  render(<StateBadge state="SOMETHING_NEW" />)
  expect(screen.getByText('SOMETHING_NEW')).toBeVisible()
})
