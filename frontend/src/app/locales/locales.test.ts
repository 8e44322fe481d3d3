import { expect, it } from 'vitest'

type Words = { [key: string]: string | Words }

const files = import.meta.glob<Words>('../../**/locales/*.json', { eager: true, import: 'default' })
const PLURAL = /_(zero|one|other)$/

function keysOf(words: Words, path = ''): string[] {
  return Object.entries(words).flatMap(([key, value]) => (typeof value === 'string' ? [`${path}${key}`.replace(PLURAL, '')] : keysOf(value, `${path}${key}.`)))
}

const unique = (keys: string[]) => [...new Set(keys)].sort()

it.each(Object.keys(files).filter((file) => file.endsWith('/en.json')))('%s says the same in Chinese', (file) => {
  const chinese = files[file.replace('/en.json', '/zh.json')]
  expect(chinese && unique(keysOf(chinese))).toEqual(unique(keysOf(files[file] ?? {})))
})
