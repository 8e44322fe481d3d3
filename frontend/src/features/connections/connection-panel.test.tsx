import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { expect, it, vi } from 'vitest'
import type { Connection, ConnectionKind } from '../../api/types'
import ConnectionPanel from './connection-panel'
import { leavePage } from '../../shared/leaving'

vi.mock('../../api/use-may', () => ({ useMay: () => () => true }))

const kind = { kind: 'mqtt', title: 'MQTT', icon: 'antenna', available: true, unavailable_reason: '', secrets: {}, secrets_when: {}, secrets_of_lines: [], schema: { properties: { host: { type: 'string', title: 'Host' } } } } as unknown as ConnectionKind
const connection = { id: 3, name: 'plant', description: '', kind: 'mqtt', project: 'default', config: { host: 'a' }, secrets: {}, used_by: [], update_time: '2026-11-21T10:00:00Z', test_time: null, test_ok: null } as unknown as Connection

it('what is written in the panel is not left for another row without asking', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"results": []}')))
  const [onClose, goOn] = [vi.fn(), vi.fn()]
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <MemoryRouter>
          <ConnectionPanel connection={connection} kind={kind} onClose={onClose} onChange={vi.fn()} />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
  leavePage(goOn)
  expect(goOn).toHaveBeenCalledOnce()
  fireEvent.change(screen.getByLabelText('Host'), { target: { value: 'b' } })
  fireEvent.click(screen.getByRole('button', { name: 'close' }))
  fireEvent.click(await screen.findByText('leave.stay'))
  expect([onClose.mock.calls.length, screen.getByLabelText<HTMLInputElement>('Host').value]).toEqual([0, 'b'])
  fireEvent.click(screen.getByRole('button', { name: 'close' }))
  fireEvent.click(await screen.findByText('leave.goOn'))
  expect(onClose).toHaveBeenCalledOnce()
})
