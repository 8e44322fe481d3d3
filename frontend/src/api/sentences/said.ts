let translate: ((text: string) => string) | null = null

const isChinese = () => document.documentElement.lang === 'zh'

/** Once the words are here that the page's language needs; who reads English never loads the Chinese ones. */
export async function sentencesReady(): Promise<void> {
  if (translate || !isChinese()) return
  const loaded = await Promise.all([import('./translate'), import('./zh.json')]).catch(() => null)
  if (loaded) translate = loaded[0].translator(loaded[1].default)
}

/** What the server said, in the language of the page as far as its sentences are known. */
export const said = (text: string): string => (translate && isChinese() ? translate(text) : text)
