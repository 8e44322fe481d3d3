import i18next from 'i18next'
import { expect, it } from 'vitest'
import { event } from '../../live/builders'
import changes from '../../shared/checkpoints/changes/locales/zh.json'
import { eventDetail, eventGlyph, eventTitle } from './event-words'
import zh from './locales/zh.json'

await i18next.init({ lng: 'zh', resources: { zh: { executions: zh, changes } }, interpolation: { escapeValue: false } })
const t = i18next.getFixedT('zh', 'executions')
const detail = (change: Parameters<typeof event>[1]) => eventDetail(t, event(1, change), (id) => (id === 'n1' ? 'Web html' : id))

it('says a change of state in a word', () => expect(eventTitle(t, event(1, { kind: 'status', from_status: 'RUNNING', to_status: 'PAUSED' }), 1)).toBe('已暂停'))
it('translates where a start begins', () => expect(detail({ kind: 'triggered', reason: 'version 1, from the beginning', actor: 'admin' })).toBe('版本 1，从头开始 · admin'))
it('says which checkpoint a restore takes', () => {
  expect(detail({ reason: 'version 3, from checkpoint 12 of execution 69c16c4d-68fb', actor: 'system' })).toBe('版本 3，从执行 69c16c4d 的检查点 12 开始')
})
it('says what a changed graph does in the language of the page', () => {
  expect(detail({ kind: 'notice', reason: 'Its condition changed: …', detail: { code: 'rows', facts: { fields: 'condition' } }, actor: 'system' })).toBe('condition 已更改：此前的行按旧设置产生，保持不变')
  expect(detail({ kind: 'notice', reason: 'anything else', actor: 'system' })).toBe('anything else')
})
it('counts the attempts of its own execution', () => expect(eventTitle(t, event(2, { kind: 'claimed', attempt: 5 }), 5)).toBe(eventTitle(t, event(2, { kind: 'claimed', attempt: 1 }), 1)))
it('tells what to do where nobody reaches the disk', () =>
  expect(detail({ kind: 'notice', reason: 'its position is on the disk of "cellar", where no driver is ready: start a worker there, or set STORAGE_HOST=cellar where that disk is now', actor: 'system' })).toContain('STORAGE_HOST=cellar'))

it('does not say twice which attempt was taken', () => expect(detail({ kind: 'claimed', reason: 'attempt 1', actor: 'driver vm:29684' })).toBe('驱动程序 vm:29684'))
it('leaves an error as the server wrote it, the node named once', () => expect(detail({ node_id: 'n1', reason: '"Web html": GET /x answers 404' })).toBe('节点 Web html · GET /x answers 404'))
it('warns of a table that could not be read again, and no more once it could', () => {
  const glyph = (since: string) => eventGlyph(event(1, { kind: 'notice', detail: { outdated_since: since } }))
  expect([glyph('2026-11-26T01:42:30+00:00'), glyph('')]).toEqual(['warning', 'completed'])
})
