import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen } from '@testing-library/react'
import { useState } from 'react'
import { beforeEach, expect, it } from 'vitest'
import type { PipelineTest } from '../../../dag/document'
import { useEditor } from '../editor-store'
import { TestForm } from './test-form'

let kept: PipelineTest

function Shown() {
  const [test, setTest] = useState(kept)
  const change = (next: PipelineTest) => {
    kept = next
    setTest(next)
  }
  return (
    <MantineProvider env="test">
      <TestForm test={test} place="orders/0" change={change} remove={() => undefined} />
    </MantineProvider>
  )
}
const field = (name: RegExp) => screen.getByRole<HTMLInputElement>('textbox', { name })
const type = (name: RegExp, value: string) => fireEvent.change(field(name), { target: { value } })

beforeEach(() => {
  kept = { name: 'sums', given: {}, expect: {} }
  const document = { schema_version: 1, name: 'orders', type: 'STREAMING' as const, parameters: { floor: { type: 'integer', default: 10 }, region: { type: 'string' }, strict: { type: 'boolean', default: true } }, nodes: { shop: { type: 'source.generator', type_version: 1, name: 'Shop', config: {} } }, edges: {}, settings: {} }
  useEditor.getState().open('orders', new Map(), { document, layout: { positions: {}, notes: [], groups: [] } }, 3, [])
  render(<Shown />)
})

it('the name may be emptied to write another; left empty it stays what it was', () => {
  type(/tests.name/, '')
  expect([field(/tests.name/).value, kept.name]).toEqual(['', 'sums'])
  type(/tests.name/, 'totals')
  expect(kept.name).toBe('totals')
  type(/tests.name/, ' ')
  fireEvent.blur(field(/tests.name/))
  expect([field(/tests.name/).value, kept.name]).toEqual(['totals', 'totals'])
})

it('times are kept while they are written, as they are written', () => {
  type(/tests.clock/, '2026-01-31 12:00:00\n\n10')
  expect(kept.clock).toEqual(['2026-01-31 12:00:00', '10'])
  expect(field(/tests.clock/).value).toBe('2026-01-31 12:00:00\n\n10')
  fireEvent.blur(field(/tests.clock/))
  expect(field(/tests.clock/).value).toBe('2026-01-31 12:00:00\n10')
})

it('CSV is read by the columns that are written for the source', () => {
  type(/tests.columnsOf/, 'id bigint, zip string')
  type(/tests.rowsOf/, 'id,zip\n1,10115')
  expect(kept.given).toEqual({ shop: [{ id: 1, zip: '10115' }] })
})

it('a parameter has its default unless the test says another value', () => {
  expect([field(/floor/).placeholder, field(/region/).placeholder]).toEqual(['tests.parameterDefault', 'tests.parameterWanted'])
  type(/floor/, '25')
  type(/region/, 'north')
  expect(kept.parameters).toEqual({ floor: 25, region: 'north' })
  type(/floor/, '')
  type(/region/, '')
  expect(kept).not.toHaveProperty('parameters')
})

it('a number is kept as it is written while it is written', () => {
  type(/floor/, '-')
  expect(field(/floor/).value).toBe('-')
  type(/floor/, '-3')
  fireEvent.blur(field(/floor/))
  expect([field(/floor/).value, kept.parameters]).toEqual(['-3', { floor: -3 }])
})
