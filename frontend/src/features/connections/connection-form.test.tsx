import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import type { ConnectionKind } from '../../api/types'
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
