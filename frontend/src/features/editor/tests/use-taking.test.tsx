import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { beforeEach, expect, it, vi } from 'vitest'
import { catalogue, chain } from '../../../dag/fixtures'
import { useEditor } from '../editor-store'
import { takenFromPreview } from './take-from-preview'
import { useTaking } from './use-taking'

vi.mock('./take-from-preview', () => ({ takenFromPreview: vi.fn() }))

type Taken = Awaited<ReturnType<typeof takenFromPreview>>
const open = (name: string) => useEditor.getState().open(name, catalogue, { document: { ...chain(), name }, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
const tests = () => useEditor.getState().history.present.document.tests ?? []
const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>

beforeEach(() => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"samples": {}}')))
  open('one')
  useEditor.getState().select(['b'])
})

function taking() {
  let read: (taken: Taken) => void = () => undefined
  vi.mocked(takenFromPreview).mockReturnValue(new Promise((resolve) => (read = resolve)))
  const { result, unmount } = renderHook(() => useTaking(), { wrapper })
  const acting = result.current.act()
  const answered = () => act(async () => {
    read({ given: {}, columns: {}, expect: {} })
    await acting
  })
  return { answered, unmount }
}

it('a test is made of what was read', async () => {
  await taking().answered()
  expect(tests()).toHaveLength(1)
})

it('what was read of one job makes no test of another', async () => {
  const { answered } = taking()
  act(() => open('other'))
  await answered()
  expect(tests()).toEqual([])
})

it('who leaves gives up', async () => {
  const { answered, unmount } = taking()
  unmount()
  expect(vi.mocked(takenFromPreview).mock.lastCall?.[3].aborted).toBe(true)
  await answered()
  expect(tests()).toEqual([])
})
