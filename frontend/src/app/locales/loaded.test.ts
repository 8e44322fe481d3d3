import { describe, expect, it } from 'vitest'

const globbed = import.meta.glob<string>(['../../**/*.{ts,tsx}', '../../**/locales/*.json'], { eager: true, query: '?raw', import: 'default' })
const HERE = 'file:///src/app/locales/'
const sources = new Map(Object.entries(globbed).map(([name, text]) => [new URL(name, HERE).pathname, text]))
const ENTRY = '/src/main.tsx'

interface Module { statics: string[]; lazies: string[]; words: Set<string>; asked: { namespaces: string[]; key: string; begins: boolean }[] }

const found = (pattern: RegExp, text: string) => [...text.matchAll(pattern)]
const path = (from: string, name: string) => ['', '.ts', '.tsx', '/index.ts'].map((end) => new URL(name, `file://${from}`).pathname + end).find((one) => sources.has(one))
const paths = (from: string, names: (string | undefined)[]) => names.flatMap((name) => (name ? (path(from, name) ?? []) : []))

/** `namespace:key.of.words` of every word in a bundle of words; a plural's forms count as its key, too. */
function wordsOf(namespace: string, value: unknown, before = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${namespace}:${before}`, `${namespace}:${before.replace(/_(one|other)$/, '')}`]
  return Object.entries(value).flatMap(([key, inner]) => wordsOf(namespace, inner, before ? `${before}.${key}` : key))
}

function bundles(file: string, text: string): string[] {
  const added = found(/addResourceBundle\('en', '(\w+)', (\w+)/g, text).map(([, namespace, name]) => [namespace, name])
  if (file.endsWith('app/i18n.ts')) added.push(['app', 'en'], ['shared', 'sharedEn'])
  return added.flatMap(([namespace, name]) => {
    const source = new RegExp(`import ${name} from '([^']+)'`).exec(text)?.[1]
    const [words] = paths(file, [source])
    return words && namespace ? wordsOf(namespace, JSON.parse(sources.get(words) ?? '')) : []
  })
}

/** What a module asks words for: `t('key')`, or the beginning of a key that is put together; a key wholly put together tells nothing. */
function asked(text: string): Module['asked'] {
  const namespaces = found(/useTranslation\(([^)]*)\)/g, text).flatMap(([, names]) => (names ? found(/'(\w+)'/g, names).map(([, name]) => name ?? '') : ['app']))
  return found(/\bt\((?:'([\w:.-]+)'|`([\w:.-]+)(\$\{)?)/g, text).flatMap(([, whole, start, open]) => {
    const [key = '', namespace] = (whole ?? start ?? '').split(':').reverse()
    return key && (namespace || namespaces.length > 0) ? [{ namespaces: namespace ? [namespace] : namespaces, key, begins: open !== undefined }] : []
  })
}

const modules = new Map<string, Module>()
function read(file: string): Module {
  const known = modules.get(file)
  if (known) return known
  const text = file.endsWith('.json') ? '' : (sources.get(file) ?? '')
  const read = {
    statics: paths(file, found(/^(?:import|export)(?! type)[^'\n]*?'(\.[^']+)'/gm, text).map(([, name]) => name)),
    lazies: paths(file, found(/import\('(\.[^']+)'\)/g, text).map(([, name]) => name)),
    words: new Set(bundles(file, text)),
    asked: asked(text),
  }
  modules.set(file, read)
  return read
}

function reached(root: string, seen = new Set<string>()): Set<string> {
  if (seen.has(root)) return seen
  seen.add(root)
  for (const next of read(root).statics) reached(next, seen)
  return seen
}

/** Words that are asked for by what `root` loads and that neither it nor what was loaded before it brings. */
function missing(root: string, before: Set<string>, way: string[] = []): string[] {
  if (way.includes(root)) return []
  const files = [...reached(root)]
  const words = new Set([...before, ...files.flatMap((file) => [...read(file).words])])
  const brought = [...words]
  const has = (namespace: string, key: string, begins: boolean) => (begins ? brought.some((word) => word.startsWith(`${namespace}:${key}`)) : words.has(`${namespace}:${key}`))
  const lacking = files.flatMap((file) => read(file).asked
    .filter(({ namespaces, key, begins }) => !namespaces.some((namespace) => has(namespace, key, begins)))
    .map(({ namespaces, key }) => `${file}: ${namespaces.join('|')}:${key}`))
  return [...lacking, ...files.flatMap((file) => read(file).lazies.flatMap((next) => missing(next, words, [...way, root])))]
}

describe('words', () => {
  it('are there when what asks for them is shown, by whatever way it was loaded', () => {
    expect([...new Set(missing(ENTRY, new Set()))]).toEqual([])
    expect(modules.size).toBeGreaterThan(200)
  })
})
