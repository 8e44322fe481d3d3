import { translator } from './translate'

const REMEMBERED = 300

let translate: ((text: string) => string) | null = null
const remembered = new Map<string, string>()

const isChinese = () => document.documentElement.lang === 'zh'

/** Once the words are here that the page's language needs; who reads English never loads the Chinese ones. */
export async function sentencesReady(): Promise<void> {
  if (translate || !isChinese()) return
  const { default: sentences } = await import('./zh.json').catch(() => ({ default: null }))
  if (sentences) translate = translator(sentences)
}

/** What the server said, in the language of the page as far as its sentences are known. */
export function said(text: string): string {
  if (!translate || !text || !isChinese()) return text
  const known = remembered.get(text)
  if (known !== undefined) return known
  const words = translate(text)
  if (remembered.size >= REMEMBERED) remembered.clear()
  remembered.set(text, words)
  return words
}
