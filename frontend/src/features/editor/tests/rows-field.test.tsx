import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import type { PipelineTest } from '../../../dag/document'
import { historyOf } from '../../../dag/history'
import { useEditor } from '../editor-store'
import { RowsField } from './rows-field'
import { useTestRuns } from './tests-store'
import { useWritten } from './written-rows'

const PLACE = 'shop-job/0/given/shop'
const onChange = vi.fn()

function shown() {
  return render(
    <MantineProvider env="test">
      <RowsField title="Shop" label="rows" place={PLACE} rows={[{ id: 1 }]} columns={[]} onChange={onChange} />
    </MantineProvider>,
  )
}
const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'rows' })
const type = (value: string) => fireEvent.change(field(), { target: { value } })

beforeEach(() => {
  onChange.mockClear()
  useWritten.setState({ written: {} })
})

it('rows are taken over while they are written, and written anew when the field is left', () => {
  shown()
  fireEvent.focus(field())
  type('id\n2')
  expect(onChange).toHaveBeenCalledWith([{ id: 2 }])
  expect(field().value).toBe('id\n2')
  fireEvent.blur(field())
  expect(field().value).toBe('[\n  {"id":1}\n]')
})

it('what cannot be read is told when the field is left, and is still there after the form was away', () => {
  const { unmount } = shown()
  fireEvent.focus(field())
  type('[{"id": }]')
  expect(screen.queryByRole('alert')).toBeNull()
  fireEvent.blur(field())
  expect(screen.getByRole('alert')).toBeVisible()
  unmount()
  shown()
  expect(field().value).toBe('[{"id": }]')
  expect(screen.getByRole('alert')).toBeVisible()
  expect(onChange).not.toHaveBeenCalled()
})

it('a test of which something cannot be read is not run with what was there before', async () => {
  const server = vi.fn<typeof fetch>()
  vi.stubGlobal('fetch', server)
  const test: PipelineTest = { name: 'sums', given: { shop: [] }, expect: {} }
  const document = { schema_version: 1, name: 'shop-job', type: 'STREAMING' as const, parameters: {}, nodes: {}, edges: {}, settings: {}, tests: [test] }
  useEditor.setState({ jobName: 'shop-job', history: historyOf({ document, layout: { positions: {}, notes: [], groups: [] } }) })
  useWritten.getState().write(PLACE, { text: '[{', error: new Error('open') })
  await useTestRuns.getState().run(['sums'])
  expect(useTestRuns.getState().ran.sums?.result.status).toBe('error')
  expect(server).not.toHaveBeenCalled()
})
