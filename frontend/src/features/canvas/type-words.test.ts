import i18next from 'i18next'
import { beforeAll, expect, it } from 'vitest'
import words from './locales/node-types.zh.json'
import { typeWords } from './type-words'

const SQL = { type: 'flow.sql', title: 'SQL', help: 'Runs one SQL query over one or more inputs.' }
const OWN = { type: 'flow.our_own', title: 'Our own', help: 'Does what we need.' }

beforeAll(() => i18next.init({ lng: 'en', fallbackLng: 'en', resources: { zh: { nodeTypes: words } } }))

it('a node type is told in Chinese', async () => {
  await i18next.changeLanguage('zh')
  expect(typeWords(i18next.t, SQL)).toEqual({ title: 'SQL 查询', help: '对一个或多个输入执行一条 SQL 查询。' })
})
it('a type that has no translation keeps the words of the catalogue', () => expect(typeWords(i18next.t, OWN)).toEqual({ title: 'Our own', help: 'Does what we need.' }))
it('in English every type has the words of the catalogue', async () => {
  await i18next.changeLanguage('en')
  expect(typeWords(i18next.t, SQL)).toEqual({ title: SQL.title, help: SQL.help })
})
