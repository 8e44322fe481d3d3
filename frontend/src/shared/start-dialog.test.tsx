import { MantineProvider } from '@mantine/core'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { beforeEach, expect, it, vi } from 'vitest'
import { sentencesReady } from '../api/sentences/said'
import { parseExact } from '../dag/exact-json'
import { useStartAsked } from './start-asked'
import StartDialog from './start-dialog'
import { parametersOf } from './start-parameters'
import { useStart } from './use-start'

const document = { parameters: { day: { type: 'string', default: '2013-01-01' }, limit: { type: 'integer' } } }
const job = { title: 'Orders', version: 1, document, latest_execution: null }

const answers = (...replies: [status: number, body: unknown][]) => {
  const server = vi.fn<typeof fetch>()
  for (const [status, body] of replies) server.mockResolvedValueOnce(new Response(JSON.stringify(body), { status }))
  vi.stubGlobal('fetch', server)
  return server
}
const sent = (server: ReturnType<typeof answers>, call: number): unknown => JSON.parse(String(server.mock.calls[call]?.[1]?.body))
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))

function opened(after = vi.fn(), parameters = parametersOf(job)) {
  const asked = { jobName: 'orders', title: 'Orders', parameters, from: undefined, after }
  useStartAsked.setState({ asked })
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <StartDialog asked={asked} />
      </MemoryRouter>
    </MantineProvider>,
  )
  return after
}

function RunButton() {
  const [, start] = useStart()
  return <button onClick={() => void start('orders')}>run</button>
}

beforeEach(() => useStartAsked.setState({ asked: null }))

it('the values are sent with their types and the dialog goes', async () => {
  const server = answers([201, { execution_id: 'e-1' }])
  const after = opened()
  expect(screen.getByLabelText('day')).toHaveValue('2013-01-01')
  fireEvent.change(screen.getByLabelText('limit'), { target: { value: '7' } })
  press('parameters.start')
  await waitFor(() => expect(after).toHaveBeenCalledWith('e-1'))
  expect(sent(server, 0)).toEqual({ parameters: { day: '2013-01-01', limit: 7 } })
  expect(useStartAsked.getState().asked).toBeNull()
})

it('an integer beyond 2^53 goes to the server as it was declared or typed', async () => {
  const server = answers([201, { execution_id: 'e-1' }])
  const id = { type: 'integer', default: parseExact('1234567890123456789') }
  opened(undefined, parametersOf({ ...job, document: { parameters: { id, limit: { type: 'integer' } } } }))
  expect(screen.getByLabelText('id')).toHaveValue('1234567890123456789')
  fireEvent.change(screen.getByLabelText('limit'), { target: { value: '9007199254740993' } })
  for (const name of ['id', 'limit']) {
    fireEvent.keyDown(screen.getByLabelText(name), { key: 'ArrowDown' })
    fireEvent.blur(screen.getByLabelText(name))
  }
  press('parameters.start')
  await waitFor(() => expect(server).toHaveBeenCalled())
  expect(server.mock.calls[0]?.[1]?.body).toBe('{"parameters":{"id":1234567890123456789,"limit":9007199254740993}}')
})

it('a refusal leads to the checkpoint that the server offers', async () => {
  answers([409, { error: { message: 'cannot go on from there', problems: [], offers: ['beginning', 12], execution_id: 'e-1' } }])
  opened()
  press('parameters.start')
  expect(await screen.findByRole('link', { name: 'openCheckpoint' })).toHaveAttribute('href', '/checkpoints?checkpoint=12')
  expect(screen.getByRole('button', { name: 'startBeginning' })).toBeVisible()
})

it('what the server says of a parameter stands at its field', async () => {
  answers([422, { error: { message: 'the parameters do not fit the job', problems: [{ code: 'parameter.missing', pointer: '/parameters/limit', message: 'give a value' }] } }])
  opened()
  press('parameters.start')
  expect(await screen.findByText('give a value')).toBeVisible()
  expect(screen.getByLabelText('limit')).toHaveAccessibleDescription(/give a value/)
  expect(screen.getByLabelText('day')).not.toHaveAccessibleDescription(/give a value/)
})

it('and that in the language of the page', async () => {
  globalThis.document.documentElement.lang = 'zh'
  await sentencesReady()
  answers([422, { error: { message: 'the parameters do not fit the job', problems: [{ code: 'parameter.missing', pointer: '/parameters/limit', message: 'the parameter "limit" has no default: give a value when starting' }] } }])
  opened()
  press('parameters.start')
  expect(await screen.findByText('参数“limit”没有默认值：启动时请给出值')).toBeVisible()
  globalThis.document.documentElement.lang = 'en'
})

it('changed values can be started from the beginning', async () => {
  const server = answers([409, { error: { message: 'the job changed its parameters', detail: { offers: ['beginning'] } } }], [201, { execution_id: 'e-2' }])
  const after = opened()
  fireEvent.change(screen.getByLabelText('day'), { target: { value: '2013-02-02' } })
  press('parameters.start')
  await screen.findByText('the job changed its parameters')
  press('startBeginning')
  await waitFor(() => expect(after).toHaveBeenCalledWith('e-2'))
  expect(sent(server, 1)).toEqual({ from: 'beginning', parameters: { day: '2013-02-02' } })
})

it.each([
  ['asks for the parameters of a job that has some', { ...job }, 1, 'orders'],
  ['starts a job without any at once', { ...job, document: {} }, 2, undefined],
])('run %s', async (_, found, calls, asked) => {
  const server = answers([200, found], [201, { execution_id: 'e-3' }])
  render(<RunButton />, { wrapper: MemoryRouter })
  press('run')
  await waitFor(() => expect(server).toHaveBeenCalledTimes(calls))
  await waitFor(() => expect(useStartAsked.getState().asked?.jobName).toBe(asked))
})

it('Escape closes it until a value is typed', () => {
  opened()
  fireEvent.change(screen.getByLabelText('day'), { target: { value: '2013-02-02' } })
  fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' })
  expect(useStartAsked.getState().asked).not.toBeNull()
})
