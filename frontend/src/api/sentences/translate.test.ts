import { describe, expect, it } from 'vitest'
import { translator } from './translate'

const say = translator({
  '{} is required': '{1} 必须填写',
  'topic {} does not exist; {}': 'topic {1} 不存在；{2}',
  'create it, or correct its name': '创建它，或更正名称',
  '{} is no {}': '{1} 不是 {2}',
  'there is no column {}; {}The columns are {}': '没有列 {1}；{2}现有的列是 {3}',
  'did you mean {}? ': '是否指 {1}？',
  'driver {} was killed ({})': '驱动程序 {1} 被强制终止（{2}）',
  '{} (retry {} of {} in {} s)': '{1}（第 {2} 次重试，共 {3} 次，{4} 秒后）',
  '{}, in line {}{}': '{1}，第 {2} 行{3}',
  'reading kafka "{}"': '读取 kafka “{1}”',
  'execution {} is {}: it cannot become {}': '执行 {1} 处于 {2}，不能变为 {3}',
  'there are {} rows of {}': '{2} 有 {1} 行',
  'the test of {} took too long': '{1} 的测试耗时过长',
  'the test of {} took too long for {}': '对 {2} 来说，{1} 的测试耗时过长',
})

describe("the server's sentences", () => {
  it('are said with their values where the words want them', () => {
    expect(say('execution 7 is PAUSED: it cannot become RUNNING')).toBe('执行 7 处于 PAUSED，不能变为 RUNNING')
    expect(say('there are 5 rows of the table')).toBe('the table 有 5 行')
  })

  it('are found inside one another and behind one another', () => {
    expect(say('reading kafka "main": topic orders does not exist; create it, or correct its name')).toBe('读取 kafka “main”：topic orders 不存在；创建它，或更正名称')
  })

  it('have a space around a value only where it is not Chinese itself', () => {
    expect(say('主题 is required')).toBe('主题必须填写')
    expect(say('topic is required')).toBe('topic 必须填写')
  })

  it('go by the most telling one', () => {
    expect(say('the test of a took too long for b')).toBe('对 b 来说，a 的测试耗时过长')
  })

  it('do not take a piece of the next one for a value', () => {
    expect(say('driver 7 was killed (SIGKILL) (retry 1 of 3 in 5 s)')).toBe('驱动程序 7 被强制终止（SIGKILL）（第 1 次重试，共 3 次，5 秒后）')
    expect(say('KeyError: x, in line 3: rows[x]')).toBe('KeyError: x，第 3 行: rows[x]')
  })

  it('are not taken for a short one that would hold them', () => {
    const told = '"Big orders": there is no column valeu; did you mean value? The columns are id, value'
    expect(say(told)).toBe('"Big orders": 没有列 valeu；是否指 value？现有的列是 id, value')
    expect(say('duoble is no type')).toBe('duoble 不是 type')
  })

  it('stay as they are where they are not known', () => {
    expect(say('org.apache.spark.SparkException: no luck')).toBe('org.apache.spark.SparkException: no luck')
    expect(say('"Orders": topic a b c does not exist; x')).toBe('"Orders": topic a b c 不存在；x')
    expect(say('')).toBe('')
  })

  it('take no time over a long text', () => {
    const long = 'there are '.repeat(10_000)
    expect(say(long)).toBe(long)
  })
})
