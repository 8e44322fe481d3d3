import i18next from 'i18next'
import { expect, it } from 'vitest'
import { checkWords } from './check-words'
import zh from './locales/zh.json'

await i18next.init({ lng: 'zh', resources: { zh: { checkpoints: zh } }, interpolation: { escapeValue: false } })
const words = (message: string) => checkWords(i18next.getFixedT('zh', 'checkpoints'), { name: 'files', ok: true, severity: 'info', message })

it('translates what the server writes by itself', () => {
  expect(words('All 18 files are there and whole')).toBe('全部 18 个文件都在且完好')
  expect(words('Execution 6dbed669-34d2-44bc is RUNNING: stop or cancel it first')).toBe('执行 6dbed669 处于 RUNNING：请先停止或取消')
  expect(words('It starts version 2; it was taken of version 1')).toBe('将启动版本 2；检查点属于版本 1')
  expect(words('"Out": rows written since this checkpoint are still there and are written again (within one generation the sink writes at least once)')).toBe('“Out”：此检查点之后写入的行仍在，并会再次写入（同一代内至少写一次）')
  expect(words('"Out": rows since this checkpoint come again and replace those with the same keys')).toBe('“Out”：此检查点之后的行会再次写入，并替换相同键的行')
  expect(words('It starts version 2; it was taken of version 7 of "orders"')).toBe('将启动版本 2；检查点属于“orders”的版本 7')
  expect(words('"Out": what this job wrote before stays where it is')).toBe('“Out”：此作业此前写入的内容保持不动')
})
it('leaves what it quotes as it is', () => expect(words('It cannot be read: out/offsets/1 is missing. Choose an earlier one')).toBe('无法读取：out/offsets/1 is missing。请选择更早的检查点'))
it('shows a sentence that it does not know', () => expect(words('something new')).toBe('something new'))
