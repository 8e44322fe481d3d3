import { MantineProvider } from '@mantine/core'
import { act, fireEvent, render, screen, waitFor } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { MemoryRouter } from 'react-router'
import { beforeEach, expect, it, vi } from 'vitest'
import { nodeType, port } from '../../../dag/fixtures'
import type { Config, Problem } from '../../../dag/document'
import { useEditor } from '../editor-store'
import canvas from '../../canvas/locales/en.json'
import shared from '../../../shared/locales/en.json'

await i18next.use(initReactI18next).init({ lng: 'en', resources: { en: { canvas, shared } } })
await import('../../canvas/i18n')
const { ConfigForm } = await import('./config-form')

Element.prototype.scrollIntoView = vi.fn()
Range.prototype.getClientRects = () => [] as unknown as DOMRectList

const connect = vi.fn((_: readonly string[], then: (name: string) => void) => then('made'))

/** As of a second node of its type. */
const ID = 'keep_2'
const TYPE = nodeType('flow.keep', [port('in', 'input')], {
  type: 'object',
  properties: {
    match: { type: 'string', title: 'Match', enum: ['first', 'all'], default: 'first' },
    condition: { type: 'string', title: 'Condition', 'x-widget': 'expression' },
    prefetch: { type: 'integer', title: 'Prefetch', default: 250, examples: [1000] },
    share: { type: 'number', title: 'Share', examples: [0.5], 'x-half': true, description: 'Of all rows. The others go.' },
    given: { type: 'array', title: 'Given', 'x-takes-input': true, items: { type: 'object', properties: { name: { type: 'string', title: 'Name' }, type: { type: 'string', title: 'Type' } } } },
    connection: { type: 'string', title: 'Connection', 'x-widget': 'connection', 'x-connection-kinds': ['kafka'] },
    partner: { type: 'string', title: 'Partner', 'x-widget': 'column', 'x-of-input': 2 },
    any: { type: 'string', title: 'Any', 'x-widget': 'column' },
    masks: { type: 'array', title: 'Masks', items: { type: 'object', properties: { method: { type: 'string', title: 'Method', description: 'How it is hidden.' } } } },
  },
})
const COLUMNS = [{ name: 'id', type: 'bigint' }, { name: 'delay', type: 'double' }]
const INPUTS = [COLUMNS, [{ name: 'code', type: 'string' }]]
const problem: Problem = { severity: 'error', code: 'config.invalid', node_id: ID, pointer: `/nodes/${ID}/config/condition`, message: 'the condition is no condition' }
const editor = () => useEditor.getState()
const config = () => editor().history.present.document.nodes[ID]?.config

function Panel() {
  const focusField = useEditor((state) => state.focusField)
  const kept = useEditor((state) => state.history.present.document.nodes[ID]?.config) ?? {}
  const change = (next: Config, field: string) => editor().changeNode(ID, { config: next }, field)
  return <ConfigForm nodeId={ID} nodeName="Keep" type={TYPE} config={kept} problems={[]} columns={COLUMNS} inputs={INPUTS} tables={[]} connections={[{ name: 'main', kind: 'kafka' }, { name: 'shop', kind: 'mysql' }]} connect={connect} focusField={focusField} readOnly={false} onChange={change} />
}

beforeEach(() => {
  const node = { type: 'flow.keep', type_version: 1, name: 'Keep', config: {} }
  const document = { schema_version: 1, name: 'a', type: 'STREAMING' as const, parameters: {}, nodes: { [ID]: node }, edges: {}, settings: {} }
  editor().open('a', new Map([[TYPE.type, TYPE]]), { document, layout: { positions: {}, notes: [], groups: [] } }, 1, [])
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <Panel />
      </MemoryRouter>
    </MantineProvider>,
  )
})

const type = (label: string, ...texts: string[]) => texts.forEach((value) => fireEvent.change(screen.getByLabelText(label, { exact: false }), { target: { value } }))
const field = (label: string) => screen.getByLabelText(label, { exact: false })

it('a click on a problem focuses its expression, also before that is loaded, and again at a second click', async () => {
  act(() => editor().focusProblem(problem))
  await waitFor(() => expect(document.activeElement).toHaveAttribute('contenteditable', 'true'))
  act(() => (document.activeElement as HTMLElement).blur())
  act(() => editor().focusProblem(problem))
  expect(document.activeElement).toHaveAttribute('contenteditable', 'true')
})

it.each([[['']], [['0']], [['2', '']]])('a number shows what the setting is after Undo of %j', (texts) => {
  type('Prefetch', ...texts)
  expect(config()?.prefetch).not.toBe(250)
  act(() => editor().undo())
  expect(field('Prefetch')).toHaveValue('250')
})

it('few choices stand side by side', () => expect(screen.getByRole('radiogroup', { name: 'Match' })).toBeInTheDocument())

it('a decimal number is typed sign by sign, and a long one kept to its last digit', () => {
  type('Share', '0', '0.', '0.0', '0.05')
  expect(field('Share')).toHaveValue('0.05')
  type('Prefetch', '9007199254740993')
  fireEvent.keyDown(field('Prefetch'), { key: 'ArrowDown' })
  ;['Share', 'Prefetch'].forEach((label) => fireEvent.blur(field(label)))
  expect(JSON.stringify(config())).toBe('{"match":"first","prefetch":9007199254740993,"share":0.05}')
})

it('an emptied number names the default that holds now; where there is none the example stands', () => {
  type('Prefetch', '')
  expect(field('Prefetch')).toHaveAttribute('placeholder', '250')
  expect(field('Share')).toHaveAttribute('placeholder', '0.5')
})

it('the help of a field within a list hovers over its heading and over what is written', () => {
  act(() => editor().changeNode(ID, { config: { masks: [{ method: 'hash' }] } }, 'masks'))
  expect(screen.getByText('Method').closest('[title]')).toHaveAttribute('title', 'How it is hidden.')
  expect(field('Method').closest('[title]')).toHaveAttribute('title', 'How it is hidden.')
})

it('a list of columns takes those that come in, once, and keeps what is there', () => {
  act(() => editor().changeNode(ID, { config: { given: [{ name: 'delay', type: 'string' }, { name: 'late', type: 'boolean' }] } }, 'typed'))
  const take = screen.getByRole('button', { name: 'Take the input\'s columns' })
  fireEvent.click(take)
  expect(config()).toEqual({ given: [{ name: 'id', type: 'bigint' }, { name: 'delay', type: 'string' }, { name: 'late', type: 'boolean' }] })
  expect(take).not.toBeInTheDocument()
  act(() => editor().undo())
  expect(config()?.given).toHaveLength(2)
})

it('of what is said of a short field the first sentence is seen, the others unfold', () => {
  const [first] = screen.getAllByText('Of all rows.')
  expect(first?.tagName).toBe('SUMMARY')
  expect(first?.parentElement).not.toHaveAttribute('open')
  expect(first?.parentElement).toHaveTextContent('Of all rows.The others go.')
})

it('a field for a column of one input offers the columns of that alone', async () => {
  const offered = async (label: string) => {
    fireEvent.focus(field(label))
    const names = (await screen.findAllByRole('option')).map((option) => option.textContent)
    fireEvent.blur(field(label))
    await waitFor(() => expect(screen.queryByRole('option')).toBeNull())
    return names
  }
  expect(await offered('Partner')).toEqual(['code'])
  expect(await offered('Any')).toEqual(['id', 'delay'])
})

it('a connection is chosen from those of its kinds, or made on the spot', async () => {
  fireEvent.click(field('Connection'))
  expect((await screen.findAllByRole('option')).map((option) => option.textContent)).toEqual(['main', 'New connection'])
  fireEvent.click(screen.getByRole('option', { name: 'New connection' }))
  expect(connect).toHaveBeenCalledWith(['kafka'], expect.anything())
  expect(config()).toMatchObject({ connection: 'made' })
})
