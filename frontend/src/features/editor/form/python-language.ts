import { indentService, indentUnit, StreamLanguage, type StringStream } from '@codemirror/language'

const KEYWORDS = new Set('and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case'.split(' '))
const VALUES = new Set(['True', 'False', 'None'])

/** `quotes`: what ends the string that goes on over lines; "" outside of one. */
interface State {
  quotes: string
}

/** Up to the closing quotes, or to the end of the line. */
function string(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    if (stream.match(state.quotes)) {
      state.quotes = ''
      return 'string'
    }
    if (stream.next() === '\\') stream.next()
  }
  if (state.quotes.length === 1) state.quotes = ''
  return 'string'
}

function token(stream: StringStream, state: State): string | null {
  if (state.quotes) return string(stream, state)
  if (stream.eatSpace()) return null
  if (stream.match(/^#.*/)) return 'comment'
  const opening = stream.match(/^[A-Za-z]{0,2}("""|'''|"|')/) as RegExpMatchArray | null
  if (opening) {
    state.quotes = opening[1] ?? ''
    return string(stream, state)
  }
  if (stream.match(/^(0[xXoObB][\da-fA-F_]+|\d[\d_]*\.?[\d_]*([eE][+-]?\d+)?)/)) return 'number'
  const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null
  if (!word) {
    stream.next()
    return null
  }
  return KEYWORDS.has(word[0]) ? 'keyword' : VALUES.has(word[0]) ? 'bool' : 'variableName'
}

/** Enough of Python to colour it; a new line is as far in as the one before, and further behind a colon. */
export const python = [
  StreamLanguage.define<State>({
    name: 'python',
    startState: () => ({ quotes: '' }),
    token,
    languageData: { commentTokens: { line: '#' } },
  }),
  indentUnit.of('    '),
  indentService.of((context, place) => {
    const before = context.lineAt(place, -1)
    return context.lineIndent(before.from) + (/:\s*(#.*)?$/.test(before.text) ? context.unit : 0)
  }),
]
