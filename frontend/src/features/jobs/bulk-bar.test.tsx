import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Job, Status } from '../../api/types'
import { execution } from '../../live/builders'
import { useAnswers } from '../../shared/answers'
import { BulkBar } from './bulk-bar'
import jobs from './locales/en.json'

beforeAll(() => void i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { jobs } } }))
afterEach(() => {
  vi.unstubAllGlobals()
  useAnswers.setState({ answers: [] })
})

const job = (name: string, status?: Status) => ({ job_name: name, project: 'default', version: 1, enabled: true, latest_execution: status ? execution({ status }) : null }) as Job
const client = () => {
  const made = new QueryClient()
  made.setQueryData(['me'], { username: 'olga', is_superuser: true, projects: [{ slug: 'default', role: 'OPERATOR' }] })
  return made
}

function chosen(...ofThem: Job[]) {
  const onDone = vi.fn()
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client()}>
        <BulkBar jobs={ofThem} onDone={onDone} onClear={() => undefined} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return onDone
}

it('every job that is not started is named, with why, in one answer', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  vi.stubGlobal('fetch', (path: string) => {
    const name = path.split('/')[3] ?? ''
    const message = name === 'f' ? 'a value is missing' : 'no worker is free'
    return Promise.resolve(name === 'a' ? new Response('{"execution_id": "x"}', { status: 202 }) : new Response(JSON.stringify({ error: { code: 'x', message } }), { status: 409 }))
  })
  const onDone = chosen(...names.map((name) => job(name)))
  fireEvent.click(screen.getByRole('button', { name: 'Start 6' }))
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce())
  expect(useAnswers.getState().answers.map(({ ok, text }) => [ok, text])).toEqual([
    [true, '1 job started'],
    [false, '5 jobs were not started:\nb, c, d, e: no worker is free\nf: a value is missing'],
  ])
})

it('a job that is paused is neither started nor stopped', () => {
  chosen(job('a'), job('b', 'PAUSED'), job('c', 'RUNNING'), job('d', 'FAILED'))
  expect(screen.getByRole('button', { name: 'Start 2' })).toBeEnabled()
  expect(screen.getByRole('button', { name: 'Stop 1' })).toBeEnabled()
})

it('many jobs are exported in one archive', async () => {
  const asked: unknown[] = []
  vi.stubGlobal('fetch', (path: string, { body }: RequestInit) => {
    asked.push([path, JSON.parse(String(body))])
    return Promise.resolve(new Response('archive'))
  })
  vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:archive', revokeObjectURL: () => undefined }))
  const clicks: string[] = []
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    clicks.push(`${this.href} ${this.download}`)
  })
  const names = Array.from({ length: 12 }, (_, index) => `job-${index}`)
  chosen(...names.map((name) => job(name)))
  fireEvent.click(screen.getByRole('button', { name: 'Export 12' }))
  await waitFor(() => expect(useAnswers.getState().answers.map(({ ok, text }) => [ok, text])).toEqual([[true, '12 jobs exported to jobs.zip']]))
  expect([asked, clicks]).toEqual([[['/api/job-exports', { names }]], ['blob:archive jobs.zip']])
  click.mockRestore()
})
