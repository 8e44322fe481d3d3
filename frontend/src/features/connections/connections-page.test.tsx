import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { fireEvent, render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { expect, it, vi } from 'vitest'
import { request } from '../../api/request'
import type { Connection } from '../../api/types'
import ConnectionsPage from './connections-page'
import './new-connection'

vi.mock('../../api/use-may', () => ({ useMay: () => () => true }))

const kind = { kind: 'mqtt', title: 'MQTT', icon: 'antenna', available: true, unavailable_reason: '', secrets: {}, secrets_when: {}, secrets_of_lines: [], schema: { properties: { host: { type: 'string', title: 'Host' } } } }
const named = (name: string) => ({ id: name.length, name, description: '', kind: 'mqtt', project: 'shop', config: { host: 'a' }, secrets: {}, used_by: [], update_time: '2026-11-21T10:00:00Z', test_time: null, test_ok: null }) as unknown as Connection

/** A server that keeps what is made. */
function server(kept: Connection[]): typeof fetch {
  return (address, given) => {
    const path = String(address as string)
    const made = given?.method === 'POST' ? named((JSON.parse(given.body as string) as Connection).name) : null
    if (made) kept.push(made)
    const known: Record<string, unknown> = { '/api/connection-kinds': { results: [kind] }, '/api/me': { projects: [] } }
    return Promise.resolve(new Response(JSON.stringify(made ?? known[path] ?? { results: kept })))
  }
}

/** As a node's form reads them: what was read is good for a while. */
function OfferedToNodes() {
  const read = async () => (await request<{ results: Connection[] }>('GET', '/api/connections?project=shop')).results
  const { data } = useQuery({ queryKey: ['connections', 'names', 'shop'], queryFn: read, staleTime: 30_000 })
  return <output>{data?.map(({ name }) => name).join(' ')}</output>
}

it('a connection just made is offered to nodes at once', async () => {
  vi.stubGlobal('fetch', server([named('old')]))
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <MemoryRouter initialEntries={['/connections?new=1']}>
          <ConnectionsPage />
          <OfferedToNodes />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
  expect(await screen.findByText('old', { selector: 'output' })).toBeInTheDocument()
  fireEvent.click(await screen.findByRole('button', { name: 'MQTT' }))
  fireEvent.change(screen.getByLabelText('Name'), { target: { value: 'plant' } })
  fireEvent.click(screen.getByRole('button', { name: 'Keep the connection' }))
  expect(await screen.findByText('old plant', { selector: 'output' })).toBeInTheDocument()
})
