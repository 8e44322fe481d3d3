/** What the server says in English, in the words of a catalogue: sentences of it may stand whole, inside one another, or joined. */

/** A sentence with {} for each value in it → the same with {1}, {2} … for them. */
export type Sentences = Record<string, string>

interface Known {
  parts: string[]
  words: string
}

/** A join of two sentences, and how it is written in Chinese. */
const JOINS: readonly [string, string][] = [
  [': ', '：'],
  ['; ', '；'],
  ['. ', '。'],
]
/** An error of another program may be a page long: only what one reads at a glance is looked at. */
const LONGEST = 2_000
/** A sentence with less of its own than this says little: it is none that holds several others. */
const TELLING = 10
const DEEPEST = 4
/** A page says the same again each time it is drawn. */
const REMEMBERED = 300

/** Whether what was found between two parts can be one value: a sentence behind it would leave its brackets or quotes half. */
function isWhole(value: string): boolean {
  let open = 0
  for (const sign of value) {
    if (sign === '(') open += 1
    else if (sign === ')') open -= 1
    if (open < 0) return false
  }
  return open === 0 && value.split('"').length % 2 === 1
}

/** The values in `text`, if it is the sentence that `parts` surround them with. Of two beside each other the first is one word. */
function valuesIn(parts: string[], text: string): string[] | null {
  const [first = ''] = parts
  if (parts.length === 1) return text === first ? [] : null
  const last = parts.at(-1) ?? ''
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return null
  const values: string[] = []
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = part ? text.indexOf(part, at) : at + (/^\w*/.exec(text.slice(at, end))?.[0].length ?? 0)
    if (found < 0 || found + part.length > end) return null
    values.push(text.slice(at, found))
    at = found + part.length
  }
  values.push(text.slice(at, end))
  return values.every(isWhole) ? values : null
}

const CHINESE = /[\u4e00-\u9fff]/
const isChinese = (sign: string | undefined) => sign !== undefined && CHINESE.test(sign)

/** `words` with their values; the space around a value is for one that is not Chinese itself. */
const filled = (words: string, valueOf: (number: number) => string) =>
  words.replace(/( ?)\{(\d+)\}( ?)/g, (place: string, space: string, number: string, behind: string, at: number) => {
    const value = valueOf(Number(number))
    const [before, after] = [words[at - 1], words[at + place.length]]
    return `${isChinese(before) && isChinese(value[0]) ? '' : space}${value}${isChinese(value.at(-1)) && isChinese(after) ? '' : behind}`
  })

const isJoined = (value: string) => JOINS.some(([join]) => value.includes(join))

const weight = ({ parts }: Known) => parts.reduce((length, part) => length + part.length, 0)

/** Puts sentences into the catalogue's language as far as it knows them; the rest stays as it is. */
export function translator(sentences: Sentences): (text: string) => string {
  // The most telling one first: a short one may fit by chance.
  const known = Object.entries(sentences)
    .map(([sentence, words]) => ({ parts: sentence.split('{}'), words }))
    .sort((one, other) => weight(other) - weight(one))

  function whole(text: string, depth: number): string | null {
    for (const one of known) {
      const { parts, words } = one
      const values = valuesIn(parts, text)
      if (values && (weight(one) >= TELLING || !values.some(isJoined))) return filled(words, (number) => inside(values[number - 1] ?? '', depth + 1))
    }
    return null
  }

  function joined(text: string, depth: number): string | null {
    for (const [join, written] of JOINS) {
      for (let at = text.indexOf(join); at >= 0; at = text.indexOf(join, at + 1)) {
        const before = text.slice(0, at)
        const behind = text.slice(at + join.length)
        const first = whole(before, depth)
        if (first !== null) return first + written + inside(behind, depth + 1)
        const second = whole(behind, depth)
        if (second !== null) return before + join + second
      }
    }
    return null
  }

  const inside = (text: string, depth: number): string => (depth > DEEPEST || text.length > LONGEST || !text.includes(' ') ? text : (whole(text, depth) ?? joined(text, depth) ?? text))
  const remembered = new Map<string, string>()
  return (text) => {
    const said = remembered.get(text) ?? inside(text, 0)
    if (remembered.size >= REMEMBERED) remembered.clear()
    remembered.set(text, said)
    return said
  }
}
