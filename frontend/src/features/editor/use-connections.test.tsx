import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { expect, it, vi } from 'vitest'
import { catalogue, chain } from '../../dag/fixtures'
import { useConnections } from './use-connections'
import { useEditor } from './editor-store'

const answers: Record<string, unknown> = {
  '/api/jobs/chain': { project: 'shop' },
  '/api/connections?project=shop': { results: [{ name: 'orders', kind: 'kafka' }] },
}
const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>

it('offers the connections of the project that the job is in', async () => {
  vi.stubGlobal('fetch', (address: string) => Promise.resolve(new Response(JSON.stringify(answers[address] ?? { results: [] }))))
  useEditor.getState().open('chain', catalogue, { document: chain(), layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  const { result } = renderHook(() => useConnections(), { wrapper })
  await waitFor(() => expect(result.current.connections).toEqual([{ name: 'orders', kind: 'kafka' }]))
})
