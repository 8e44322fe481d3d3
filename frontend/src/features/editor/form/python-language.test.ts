import { ensureSyntaxTree, getIndentation, IndentContext } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight'
import { expect, test } from 'vitest'
import { python } from './python-language'

const STYLES = tagHighlighter([
  { tag: tags.keyword, class: 'keyword' },
  { tag: tags.string, class: 'string' },
  { tag: tags.comment, class: 'comment' },
  { tag: tags.number, class: 'number' },
  { tag: tags.bool, class: 'value' },
])

function coloured(code: string): [string, string][] {
  const state = EditorState.create({ doc: code, extensions: python })
  const found: [string, string][] = []
  const tree = ensureSyntaxTree(state, code.length, 5000)
  if (tree) highlightTree(tree, STYLES, (from, to, style) => found.push([state.sliceDoc(from, to), style]))
  return found
}

test('words, strings, numbers and comments of Python are told apart', () => {
  expect(coloured('if x1 is None: # "no"\n    return f"a\\"b" + \'c\' + 0x1F')).toEqual([
    ['if', 'keyword'],
    ['is', 'keyword'],
    ['None', 'value'],
    ['# "no"', 'comment'],
    ['return', 'keyword'],
    ['f"a\\"b"', 'string'],
    ["'c'", 'string'],
    ['0x1F', 'number'],
  ])
})

test('a string in three quotes goes on over lines, one that is not closed ends with its line', () => {
  expect(coloured('"""a\nif b"""\nif').map(([, style]) => style)).toEqual(['string', 'string', 'keyword'])
  expect(coloured('"a\nif').map(([, style]) => style)).toEqual(['string', 'keyword'])
})

test('a new line is as far in as the one before, and further behind a colon', () => {
  const indented = (before: string) => {
    const state = EditorState.create({ doc: before, extensions: python })
    return getIndentation(new IndentContext(state, { simulateBreak: before.length }), before.length)
  }
  expect(indented('def process(row):')).toBe(4)
  expect(indented('    if row["a"]:  # why')).toBe(8)
  expect(indented('    x = 1')).toBe(4)
})
