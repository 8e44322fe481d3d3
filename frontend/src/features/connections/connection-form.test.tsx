import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import type { Connection, ConnectionKind } from '../../api/types'
import { ConnectionForm } from './connection-form'

Element.prototype.scrollIntoView = vi.fn()

const kind: ConnectionKind = {
  kind: 'mqtt',
  title: 'MQTT',
  icon: 'antenna',
  available: true,
  unavailable_reason: '',
  secrets: {},
  secrets_when: {},
  secrets_of_lines: [],
  schema: {
    properties: {
      host: { type: 'string', title: 'Host', 'x-order': 0 },
      port: { type: 'integer', title: 'Port', 'x-order': 0 },
      tls: { type: 'string', title: 'TLS', enum: ['prefer', 'require'], default: 'prefer', 'x-order': 1, 'x-sets': { require: { port: 8883 } } },
      authority: { type: 'string', title: 'Authority', 'x-advanced': true, 'x-unfolds': 'tls=require', 'x-order': 2 },
      timeout: { type: 'string', title: 'Timeout', 'x-advanced': true, 'x-order': 3 },
    },
  },
}

const refusal = (field: string) => ({ error: { code: 'invalid', message: 'the settings of the connection have problems', problems: [{ code: 'config.invalid', severity: 'error', pointer: `/config/${field}`, message: 'is wrong' }] } })

/** The form of a new connection; the tests of it get `answers`, one after another. `sent`: what each was asked with. */
function opened(...answers: [status: number, body: unknown][]) {
  const sent: unknown[] = []
  const server = vi.fn<typeof fetch>((address, given) => {
    if (!String(address).endsWith('/test')) return Promise.resolve(new Response(JSON.stringify({ results: [] })))
    sent.push(JSON.parse(String(given?.body)))
    const [status, body] = answers.shift() ?? [500, {}]
    return Promise.resolve(new Response(JSON.stringify(body), { status }))
  })
  vi.stubGlobal('fetch', server)
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <ConnectionForm kind={kind} connection={null} onSaved={vi.fn()} onCancel={vi.fn()} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return sent
}

const tried = () => fireEvent.click(screen.getByText('test.act'))

it('a test that the settings pass takes back what an earlier one refused', async () => {
  const sent = opened([422, refusal('host')], [200, { ok: true, steps: [{ name: 'port', ok: true, message: '', milliseconds: 1 }] }])
  tried()
  await screen.findByText('the settings of the connection have problems')
  fireEvent.change(screen.getByLabelText('form.name'), { target: { value: ' plant ' } })
  tried()
  await screen.findByText('port')
  expect(screen.queryByText('the settings of the connection have problems')).toBeNull()
  expect(sent.map((one) => (one as { name?: string }).name)).toEqual([undefined, 'plant'])
})

it('a refused field that is corrected takes the sentence about all of them away', async () => {
  opened([422, refusal('host')])
  tried()
  await screen.findByText('is wrong')
  fireEvent.change(screen.getByLabelText('Host'), { target: { value: 'mqtt' } })
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
})

it('what is wrong with all the settings together is said below them', async () => {
  opened([422, refusal('')])
  tried()
  expect(await screen.findByRole('alert')).toHaveTextContent('is wrong')
})

it('a refused field is never folded away', async () => {
  opened([422, refusal('timeout')])
  tried()
  await screen.findByText('is wrong')
  expect(screen.getByText('form.advanced').closest('details')).toHaveAttribute('open')
})

it('what the chosen encryption uses is not behind more settings', () => {
  opened()
  expect(screen.getByLabelText('Authority').closest('details')).not.toBeNull()
  fireEvent.click(screen.getByLabelText('require'))
  expect(screen.getByLabelText('Authority').closest('details')).toBeNull()
})

it('a choice fills in the fields that belong to it', () => {
  opened()
  fireEvent.click(screen.getByLabelText('require'))
  expect(screen.getByLabelText('Port')).toHaveValue('8883')
})

const kept = (change: Partial<Connection> = {}) => ({ id: 3, name: 'plant', description: '', kind: 'mqtt', project: 'default', config: { host: 'a', port: 1883, tls: 'prefer' }, secrets: {}, used_by: [], update_time: '2026-11-21T10:00:00Z', test_time: null, test_ok: null, ...change }) as unknown as Connection

/** The form of a kept connection; `sent`: what its changes are, and under which condition. `shows` draws it as it was read anew. */
function changing(answer: [status: number, body: unknown]) {
  const sent: [body: unknown, condition: string | undefined][] = []
  vi.stubGlobal('fetch', (_: string, given?: RequestInit) => {
    if (given?.method === 'PATCH') sent.push([JSON.parse(String(given.body)), (given.headers as Record<string, string>)['If-Match']])
    const [status, body] = given?.method === 'PATCH' ? answer : [200, { results: [] }]
    return Promise.resolve(new Response(JSON.stringify(body), { status }))
  })
  const [onWritten, onOutdated] = [vi.fn(), vi.fn()]
  const drawn = (connection: Connection) => (
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <ConnectionForm kind={kind} connection={connection} onSaved={vi.fn()} onOutdated={onOutdated} onWritten={onWritten} onCancel={vi.fn()} />
      </QueryClientProvider>
    </MantineProvider>
  )
  const { rerender } = render(drawn(kept()))
  return { sent, onWritten, onOutdated, shows: (connection: Connection) => rerender(drawn(connection)) }
}

const write = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const save = () => fireEvent.click(screen.getByText('form.save'))

it('only what was changed is sent, so that what somebody else changed stays', async () => {
  const { sent, onWritten } = changing([200, kept({ description: 'ours', update_time: '2026-11-21T11:00:00Z' })])
  write('form.description', 'ours')
  expect(onWritten).toHaveBeenLastCalledWith(true)
  save()
  await waitFor(() => expect(onWritten).toHaveBeenLastCalledWith(false))
  write('Host', 'b')
  save()
  await waitFor(() => expect(sent).toHaveLength(2))
  expect(sent).toEqual([[{ description: 'ours' }, undefined], [{ config: { host: 'b', port: 1883, tls: 'prefer' } }, '"2026-11-21T11:00:00Z"']])
})

it('settings that somebody else changed meanwhile are not put back: who did it is said', async () => {
  const { sent, shows, onOutdated } = changing([409, { error: { code: 'connection.changed', message: 'otto changed this connection', problems: [] } }])
  write('Host', 'b')
  shows(kept({ config: { host: 'a', port: 9, tls: 'prefer' }, update_time: '2026-11-21T12:00:00Z' }))
  expect(screen.getByLabelText('Host')).toHaveValue('b')
  save()
  expect(await screen.findByText('otto changed this connection')).toBeVisible()
  expect(onOutdated).toHaveBeenCalledOnce()
  expect(sent[0]?.[1]).toBe('"2026-11-21T10:00:00Z"')
})

it('a form in which nothing is written follows what others change', () => {
  const { shows } = changing([200, {}])
  shows(kept({ config: { host: 'c', port: 9, tls: 'prefer' }, update_time: '2026-11-21T12:00:00Z' }))
  expect(screen.getByLabelText('Host')).toHaveValue('c')
})
