import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import type { Job } from '../../api/types'
import { ConfigDialog } from './config-dialog'

afterEach(() => vi.unstubAllGlobals())

const setting = (config_key: string, config_value: string, config_type: string) => ({ config_key, config_value, config_type, description: 'ours', update_time: `of ${config_key}` })
const KEPT = { results: [setting('parallelism', '4', 'INT'), setting('team.limit', '7', 'INT'), setting('team.color', 'red', 'STRING')], known: [] }

async function opened(refusal?: string) {
  const sent: unknown[] = []
  vi.stubGlobal('fetch', (_: string, { method, body }: RequestInit) => {
    if (method === 'GET') return Promise.resolve(new Response(JSON.stringify(KEPT)))
    sent.push([method, JSON.parse(String(body))])
    return Promise.resolve(refusal ? new Response(JSON.stringify({ error: { code: 'config.changed', message: refusal } }), { status: 409 }) : new Response(JSON.stringify(KEPT)))
  })
  const onClose = vi.fn()
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <ConfigDialog job={{ job_name: 'orders', title: 'Orders' } as Job} onClose={onClose} />
      </MantineProvider>
    </QueryClientProvider>,
  )
  await screen.findByDisplayValue('red')
  return { sent, onClose }
}

const write = (index: number, value: string) => fireEvent.change(screen.getAllByLabelText('config.value')[index] as HTMLElement, { target: { value } })
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))

it('only what was changed is sent, with its type and when it was read', async () => {
  const { sent, onClose } = await opened()
  write(1, '9')
  fireEvent.click(screen.getAllByRole('button', { name: 'config.remove' })[2] as HTMLElement)
  press('config.add')
  fireEvent.change(screen.getAllByRole('combobox', { name: 'config.key' })[2] as HTMLElement, { target: { value: 'max.retry.times' } })
  write(2, '3')
  press('config.save')
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  const results = [
    { config_key: 'team.limit', config_value: '9', config_type: 'INT', description: 'ours', seen: 'of team.limit' },
    { config_key: 'max.retry.times', config_value: '3', config_type: null, description: '', seen: null },
    { config_key: 'team.color', config_value: null, config_type: 'STRING', description: 'ours', seen: 'of team.color' },
  ]
  expect(sent).toEqual([['PATCH', { results }]])
})

it('what somebody else changed meanwhile is told, and what was written stays', async () => {
  const { onClose } = await opened('somebody changed parallelism meanwhile')
  write(0, '8')
  press('config.save')
  expect(await screen.findByRole('alert')).toHaveTextContent('somebody changed parallelism meanwhile')
  expect(screen.getByDisplayValue('8')).toBeVisible()
  expect(onClose).not.toHaveBeenCalled()
})

it('Escape closes it until something is written', async () => {
  const { onClose } = await opened()
  fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' })
  expect(onClose).toHaveBeenCalledOnce()
  write(0, '8')
  fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' })
  expect(onClose).toHaveBeenCalledOnce()
})
