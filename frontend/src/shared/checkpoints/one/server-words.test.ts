import i18next, { type TFunction } from 'i18next'
import { describe, expect, it } from 'vitest'
import enWords from './locales/en.json'
import zhWords from './locales/zh.json'
import { damageWords, deletionWords, refusalWords } from './server-words'

await i18next.init({ lng: 'en', resources: { en: { checkpoint: enWords }, zh: { checkpoint: zhWords } }, interpolation: { escapeValue: false } })

const zh = i18next.getFixedT('zh', 'checkpoint') as TFunction<'checkpoint'>
const en = i18next.getFixedT('en', 'checkpoint') as TFunction<'checkpoint'>

describe("the server's sentences", () => {
  it('tell damage once, and how many files it met', () => {
    expect(damageWords(en, 'it is damaged: t/state/0/0/690.changelog is damaged: its checksum does not fit')).toBe('t/state/0/0/690.changelog: its checksum does not fit')
    expect(damageWords(en, 'it is damaged: out/offsets/1 is missing (3 files are wrong)')).toBe('out/offsets/1 is missing (3 files in all)')
    expect(damageWords(zh, 'it is damaged: out/offsets/1 has 1 bytes instead of 44')).toBe('out/offsets/1 有 1 字节，应为 44 字节')
    expect(damageWords(zh, 'something else')).toBe('something else')
  })

  it('have words for each rule that deletes, and keep what a person wrote', () => {
    expect(deletionWords(zh, 'older than the newest 10')).toBe('早于最新的 10 个')
    expect(deletionWords(zh, 'older than 7 days')).toBe('早于 7 天')
    expect(deletionWords(zh, 'execution ce581503-1f2e needs it')).toBe('执行 ce581503 需要它')
    expect(deletionWords(zh, 'no checkpoint stands for it; it goes once nothing of it has changed for an hour')).toBe('没有对应的检查点；一小时内无改动后删除')
    expect(deletionWords(zh, 'the checkpoints of its job would take more than 1.0 GB')).toBe('该作业的检查点会超过 1.0 GB')
    expect(deletionWords(zh, 'no room left on Friday')).toBe('no room left on Friday')
  })

  it('say why a position stays', () => {
    expect(refusalWords(zh, '"Per hour" keeps state, which was made of the rows up to here and of no others')).toContain('“Per hour” 保存状态')
    expect(refusalWords(en, 'its position cannot be read: it is foreign')).toBe('its position cannot be read: it is foreign')
  })
})
