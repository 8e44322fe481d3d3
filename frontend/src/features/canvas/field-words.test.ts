import i18next from 'i18next'
import { beforeEach, expect, it } from 'vitest'
import { fieldTitle, kindTitle, secretTitle, spokenSchema, spokenStart } from './field-words'
import nodeFields from './locales/node-fields.zh.json'

const TABLE = {
  properties: {
    mode: { title: 'Mode', description: 'Append adds rows.', enum: ['append', 'upsert'] },
    compression: { title: 'Compression', anyOf: [{ enum: ['none', 'gzip'] }, { type: 'null' }] },
    our_own: { title: 'Our own', description: 'Ours.' },
    fields: { title: 'Fields', items: { properties: { name: { title: 'Name' } } } },
  },
}

beforeEach(() => i18next.init({ lng: 'zh', resources: { zh: { nodeFields } } }))

it('a field has the words of its type, else those of its name', () => {
  expect(spokenSchema(TABLE, 'sink.jdbc').properties.mode.description).toContain('更新插入')
  expect(spokenSchema(TABLE, 'sink.file').properties.mode.description).toBe('“覆盖”在作业从头启动时清空文件夹。')
})
it('choices have words, and one value may mean something else in another field', () => {
  const { mode, compression } = spokenSchema(TABLE, 'sink.jdbc').properties as Record<string, Record<string, unknown>>
  expect([mode?.['x-choices'], compression?.['x-choices']]).toEqual([{ append: '追加', upsert: '更新插入' }, { none: '不压缩', gzip: 'gzip' }])
})
it('what an installation calls its choices, they are called', () => {
  const driver = { title: 'Driver', enum: ['h2', 'none'], 'x-choices': { h2: 'H2', none: 'None' } }
  expect(spokenSchema({ properties: { driver } }, 'connection.jdbc').properties.driver['x-choices']).toEqual({ h2: 'H2', none: 'None' })
})
it('a field of a row is told by its list', () => expect(spokenSchema(TABLE, 'flow.select_fields').properties.fields.items.properties.name.title).toBe('新名称'))
it('a field without words keeps those of the catalogue', () => expect(spokenSchema(TABLE, 'sink.jdbc').properties.our_own.title).toBe('Our own'))
it('a kind of another package keeps its own', () => expect([kindTitle({ kind: 'ours', title: 'Ours' }), secretTitle({ kind: 'ours', secrets: { pin: 'PIN' } }, 'pin')]).toEqual(['Ours', 'PIN']))
it('a sentence calls a field as its form does', () => {
  const schema = { properties: { rows_per_second: { title: 'Rows per second' }, order_by: { title: 'Order by', items: { properties: { column: { title: 'Column' } } } } } }
  expect(fieldTitle('"rows per second": rows per second must be greater than 0', schema, 'flow.rate_limit', ['rows_per_second'])).toBe('"rows per second": 每秒行数 must be greater than 0')
  expect(fieldTitle('order by 2 must be an object', schema, 'flow.sort', ['order_by', '1'])).toBe('排序列 2 must be an object')
  expect(fieldTitle('column must not be empty', schema, 'flow.sort', ['order_by', '1', 'column'])).toBe('列 must not be empty')
  expect(fieldTitle('"Sort": order by 2: column is required', schema, 'flow.sort', ['order_by', '1', 'column'])).toBe('"Sort": 排序列 2: 列 is required')
  expect(fieldTitle('there is no column x', schema, 'flow.sort', ['order_by', '1', 'column'])).toBe('there is no column x')
})
it('the code of a new node is explained in Chinese, and stays the code it is', () => {
  const code = { default: '# row: a row\n# None: none\n\n\ndef process(row):\n    # on\n    return row\n' }
  const type = { type: 'flow.python', schema: { properties: { code, shape: { default: 'row' } } } }
  const { properties } = spokenStart(type).schema
  expect(properties.code.default).toMatch(/^# row：列名 → 值。返回\n(#.*\n)+\n\ndef process\(row\):\n {4}# on\n {4}return row\n$/)
  expect(properties.shape.default).toBe('row')
  expect(type.schema.properties.code.default).toContain('# None')
})
it('in English everything is as the catalogue says it', async () => {
  await i18next.changeLanguage('en')
  expect(spokenSchema(TABLE, 'sink.jdbc')).toBe(TABLE)
  const type = { type: 'flow.python', schema: { properties: { code: { default: '# row\n' } } } }
  expect(spokenStart(type)).toEqual(type)
})
