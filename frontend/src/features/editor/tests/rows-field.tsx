import { Textarea } from '@mantine/core'
import { useId, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Column, GivenRows } from '../../../dag/document'
import { StateGlyph } from '../../../shared/state-glyph'
import { rowsOfText, textOfRows } from './rows-text'
import { useRowsWords } from './rows-words'

/** Always as many: were the field to grow when it is left, what was clicked on would move away. */
const ROWS = 5

interface Props {
  title: ReactNode
  label: string
  rows: GivenRows
  columns: readonly Column[]
  batches?: boolean
  /** Stands right of the title. */
  act?: ReactNode
  onChange: (rows: GivenRows) => void
}

/** Rows as text, JSON or CSV. They are taken over when the field is left, and written anew, one a line; what cannot be read stays as it is. */
export function RowsField({ title, label, rows, columns, batches = false, act, onChange }: Props) {
  const { t } = useTranslation('canvas')
  const wordsOf = useRowsWords()
  const id = useId()
  const [text, setText] = useState<string | null>(null)
  const [why, setWhy] = useState('')
  const leave = () => {
    if (text === null) return
    try {
      onChange(rowsOfText(text, columns, batches))
      setText(null)
      setWhy('')
    } catch (error) {
      setWhy(wordsOf(error))
    }
  }
  return (
    <div className="pw-tests-rows">
      <div className="pw-tests-rows-head">
        <label htmlFor={id} className="pw-cut">{title}</label>
        {act}
      </div>
      <Textarea id={id} aria-label={label} rows={ROWS} resize="vertical" wrap="off" spellCheck={false} value={text ?? textOfRows(rows)} onChange={(event) => setText(event.currentTarget.value)} onBlur={leave} />
      {why && (
        <p className="pw-field-error" role="alert">
          <StateGlyph state="failed" />
          <span>{t('tests.isNoRows', { why, interpolation: { escapeValue: false } })}</span>
        </p>
      )}
    </div>
  )
}
