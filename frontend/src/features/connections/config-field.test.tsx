import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen } from '@testing-library/react'
import { useState } from 'react'
import { expect, it } from 'vitest'
import { ConfigField } from './config-field'
import type { KindField } from './kind-fields'

const field: KindField = { name: 'pause', label: 'Pause', help: '', type: 'number', choices: [], required: false, advanced: false, long: false, example: '', initial: undefined, least: undefined, most: undefined, when: null, sets: {}, unfolds: null }

function Held() {
  const [value, setValue] = useState<unknown>(undefined)
  return (
    <>
      <ConfigField field={field} value={value} error={undefined} onChange={setValue} />
      <output>{JSON.stringify(value) ?? 'none'}</output>
      <button type="button" onClick={() => setValue(9)}>preset</button>
    </>
  )
}

it('a decimal number is typed digit by digit, and gives way to one that is set for it', () => {
  render(<MantineProvider env="test"><Held /></MantineProvider>)
  const input = screen.getByLabelText('Pause')
  for (const [typed, value] of [['2', '2'], ['2.', '2'], ['2.0', '2'], ['2.05', '2.05'], ['', 'none'], ['-', 'none'], ['-1', '-1']] as const) {
    fireEvent.change(input, { target: { value: typed } })
    expect([(input as HTMLInputElement).value, screen.getByRole('status').textContent]).toEqual([typed, value])
  }
  fireEvent.click(screen.getByText('preset'))
  expect(input).toHaveValue('9')
})

it('a long number is kept to its last digit, also when its field is left or an arrow key is pressed in it', () => {
  render(<MantineProvider env="test"><Held /></MantineProvider>)
  const input = screen.getByLabelText('Pause')
  fireEvent.change(input, { target: { value: '9007199254740993' } })
  fireEvent.keyDown(input, { key: 'ArrowDown' })
  fireEvent.blur(input)
  expect([(input as HTMLInputElement).value, screen.getByRole('status').textContent]).toEqual(['9007199254740993', '9007199254740993'])
})

it('an emptied number names the default that holds then, not an example', () => {
  render(<MantineProvider env="test"><ConfigField field={{ ...field, example: '90', initial: 60 }} value={undefined} error={undefined} onChange={() => undefined} /></MantineProvider>)
  expect(screen.getByLabelText('Pause')).toHaveAttribute('placeholder', '60')
})
