import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { expect, it, vi } from 'vitest'
import { useConnectionAsked } from '../../shared/connection-asked'
import canvas from '../canvas/locales/en.json'
import connections from './locales/en.json'
import shared from '../../shared/locales/en.json'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, connections, shared } } })
const { default: AskedConnection } = await import('./asked-connection')

const mqtt = {
  kind: 'mqtt',
  title: 'MQTT',
  icon: 'antenna',
  available: true,
  unavailable_reason: '',
  secrets: {},
  secrets_when: {},
  secrets_of_lines: [],
  schema: { properties: { host: { type: 'string', title: 'Host' }, tls: { type: 'string', title: 'TLS', default: 'prefer' } } },
}

function opened(...kinds: string[]) {
  const sent: unknown[] = []
  vi.stubGlobal('fetch', (address: string, given?: RequestInit) => {
    if (given?.method === 'POST') sent.push(JSON.parse(given.body as string))
    const body = address === '/api/connection-kinds' ? { results: [mqtt, { ...mqtt, kind: 'away', title: 'Away', available: false, unavailable_reason: 'not here' }] } : { results: [], name: 'plant' }
    return Promise.resolve(new Response(JSON.stringify(body)))
  })
  const asked = { name: 'plant', kinds, config: { host: 'plant.example.com' }, project: 'sales', after: vi.fn() }
  useConnectionAsked.setState({ asked })
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <AskedConnection asked={asked} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { asked, sent }
}

it('begins with what was proposed, and tells who asked once it is kept', async () => {
  const { asked, sent } = opened('mqtt')
  expect(await screen.findByLabelText('Host')).toHaveValue('plant.example.com')
  fireEvent.click(screen.getByRole('button', { name: 'Keep the connection' }))
  await waitFor(() => expect(asked.after).toHaveBeenCalledWith('plant'))
  expect(sent).toMatchObject([{ project: 'sales', kind: 'mqtt', name: 'plant', config: { host: 'plant.example.com', tls: 'prefer' } }])
  expect(useConnectionAsked.getState().asked).toBeNull()
})

it('says that a kind cannot be created here', async () => {
  opened('teapot')
  expect(await screen.findByText('Connections of the kind teapot cannot be created here')).toBeVisible()
})

it('asks which system it shall be where several will do', async () => {
  opened('away', 'mqtt')
  expect(await screen.findByRole('button', { name: 'Away' })).toBeDisabled()
  fireEvent.click(screen.getByRole('button', { name: 'MQTT' }))
  expect(await screen.findByLabelText('Host')).toHaveValue('plant.example.com')
})
