import { autocompletion, type CompletionContext } from '@codemirror/autocomplete'
import { python } from '@codemirror/lang-python'
import { sql, SQLDialect, StandardSQL } from '@codemirror/lang-sql'
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import { lineNumbers, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { EditorView, minimalSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import type { Column } from '../../../dag/document'
import { styleNonce } from '../../../shared/nonce'
import { ROWS } from './rows-language'
import { sqlOffers, type Table } from './sql-completion'
import { typedOver } from './typed-over'

/** In the tokens' colours, which are readable in light and dark. */
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent-text)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--state-running)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--source)' },
  { tag: tags.comment, color: 'var(--text-3)', fontStyle: 'italic' },
])

/** What is wrong, from one character position to another. */
export interface Mark {
  from: number
  to: number
  words: string
}

interface Props {
  id: string
  label: string
  value: string
  /** Shown while there is no text. */
  example?: string
  columns: Column[]
  /** Inputs of a query. */
  tables?: readonly Table[]
  invalid: boolean
  tall: boolean
  /** Errors name a line: each stands beside its text. */
  numbered?: boolean
  language: string
  readOnly: boolean
  marks?: readonly Mark[]
  /** A position to go to; another object goes there once more. */
  goTo?: { at: number } | null
  onChange: (value: string) => void
}

const complete = (known: () => Pick<Props, 'columns' | 'tables'>) => (context: CompletionContext) => {
  const { columns, tables = [] } = known()
  return sqlOffers(context.state.doc.toString(), context.pos, context.explicit, columns, tables)
}

/** Errors name a line. Tab still leads on to the next field: who edits by keyboard alone would not come out again. */
const PYTHON = [lineNumbers(), python(), indentUnit.of('    ')]

const WHOLE: Record<string, Extension> = { python: PYTHON, rows: [lineNumbers(), ROWS] }
/** As Spark reads quotes. In a script, which is numbered, # begins a comment, too. */
const SPARK = { ...StandardSQL.spec, backslashEscapes: true, doubleQuotedStrings: true, identifierQuotes: '`' }
const EXPRESSION = sql({ dialect: SQLDialect.define(SPARK) })
const SCRIPT = [lineNumbers(), sql({ dialect: SQLDialect.define({ ...SPARK, hashComments: true }) })]

const NO_MARKS: readonly Mark[] = []
const NO_TABLES: readonly Table[] = []

/** A Spark SQL expression or query with the columns that reach the node; or Python, or rows as JSON or CSV. */
export default function CodeField({ id, label, value, example = '', columns, tables = NO_TABLES, invalid, tall, numbered = false, language, readOnly, marks = NO_MARKS, goTo = null, onChange }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef({ columns, tables, onChange })

  useEffect(() => {
    latest.current = { columns, tables, onChange }
  }, [columns, tables, onChange])

  useEffect(() => {
    if (!host.current) return
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          minimalSetup,
          typedOver,
          syntaxHighlighting(COLOURS),
          WHOLE[language] ?? [numbered ? SCRIPT : EXPRESSION, EditorView.lineWrapping, autocompletion({ override: [complete(() => latest.current)] })],
          EditorState.readOnly.of(readOnly),
          placeholder(example),
          EditorView.cspNonce.of(styleNonce()),
          EditorView.contentAttributes.of({ id, 'aria-label': label, spellcheck: 'false' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
    // The editor owns its text after the first drawing; outer changes come through the next effect.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id, label, example, language, numbered, readOnly])

  useEffect(() => {
    const editor = view.current
    const text = editor?.state.doc.toString()
    if (editor && text !== value) editor.dispatch({ changes: { from: 0, to: text?.length ?? 0, insert: value } })
  }, [value])

  useEffect(() => {
    if (marks === NO_MARKS) return
    const editor = view.current
    const end = editor?.state.doc.length ?? 0
    const within = marks.map(({ from, to, words }) => ({ from: Math.min(from, end), to: Math.min(to, end), severity: 'error' as const, message: words }))
    editor?.dispatch(setDiagnostics(editor.state, within))
  }, [marks])

  useEffect(() => {
    const editor = view.current
    if (!editor || !goTo) return
    const at = Math.min(goTo.at, editor.state.doc.length)
    editor.dispatch({ selection: { anchor: at }, scrollIntoView: true })
    editor.focus()
  }, [goTo])

  return <div ref={host} className={`pw-code${tall ? ' pw-code-tall' : ''}${language === 'python' ? ' pw-code-whole' : ''}${invalid ? ' pw-code-invalid' : ''}`} />
}
