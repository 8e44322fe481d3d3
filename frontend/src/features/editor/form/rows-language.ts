import { StreamLanguage } from '@codemirror/language'

/** Colours for rows as JSON: names, texts, numbers and words; of CSV only quoted texts and numbers are coloured. */
export const ROWS = StreamLanguage.define({
  name: 'rows',
  token: (stream) => {
    if (stream.eatSpace()) return null
    if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/)) return 'propertyName'
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string'
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w-])/)) return 'number'
    if (stream.match(/^(?:true|false|null)\b/)) return 'bool'
    if (!stream.match(/^\w+/)) stream.next()
    return null
  },
})
