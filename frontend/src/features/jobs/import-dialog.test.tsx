import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, fireEvent, render, screen } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { beforeEach, expect, it, vi } from 'vitest'
import { useConnectionAsked } from '../../shared/connection-asked'
import { ImportDialog } from './import-dialog'

const shop = { name: 'shop', kind: 'postgresql', config: { host: 'db.example.com', port: 5432, database: 'shop' }, node_ids: ['orders'], secrets: ['password'] }
const answers: Record<string, unknown> = {
  '/api/jobs/import': { document: { name: 'orders' }, problems: [], connections: [shop] },
  '/api/jobs': { job_name: 'orders', project: 'sales' },
  '/api/me': { projects: [{ slug: 'default', title: 'Default', role: 'EDITOR' }, { slug: 'sales', title: 'Sales', role: 'EDITOR' }] },
  '/api/connection-kinds': { results: [] },
}

let sent: unknown[] = []
const onClose = vi.fn()
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))
function choose(...names: string[]) {
  const files = names.map((name) => new File(['{}'], name))
  fireEvent.change(screen.getByLabelText('import.choose', { selector: 'input' }), { target: { files } })
}

beforeEach(() => {
  sent = []
  vi.stubGlobal('fetch', (address: string, given?: RequestInit) => {
    if (address === '/api/jobs') sent.push(JSON.parse(given?.body as string))
    return Promise.resolve(new Response(JSON.stringify(answers[address])))
  })
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <MemoryRouter>
          <ImportDialog onClose={onClose} onDone={vi.fn()} />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
})

it('what the files need of connections is listed with its address, and its form begins with it', async () => {
  choose('a.json', 'b.json')
  expect(await screen.findAllByText('import.open')).toHaveLength(2)
  expect(await screen.findByText('postgresql · db.example.com:5432/shop')).toBeVisible()
  press('import.create')
  const { asked } = useConnectionAsked.getState()
  expect(asked).toMatchObject({ name: 'shop', kinds: ['postgresql'], config: shop.config, project: 'sales' })
  act(() => asked?.after('shop'))
  expect(screen.getByText('import.created')).toBeVisible()
})

it('the files become jobs of the chosen project', async () => {
  fireEvent.click(await screen.findByLabelText('project', { selector: 'input' }))
  fireEvent.click(await screen.findByText('Sales'))
  choose('a.json')
  await screen.findByText('import.open')
  expect(sent).toEqual([{ name: 'orders', project: 'sales', publish: false }])
})

it('Escape in the form of a connection leaves the dialog under it, and its list, alone', async () => {
  choose('a.json')
  await screen.findByText('postgresql · db.example.com:5432/shop')
  press('import.create')
  fireEvent.keyDown(document.body, { key: 'Escape' })
  expect(onClose).not.toHaveBeenCalled()
  act(() => useConnectionAsked.setState({ asked: null }))
  fireEvent.keyDown(document.body, { key: 'Escape' })
  expect(onClose).toHaveBeenCalledOnce()
})
