import { Textarea } from '@mantine/core'
import { useId, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Column, GivenRows } from '../../../dag/document'
import { StateGlyph } from '../../../shared/state-glyph'
import { rowsOfText, textOfRows } from './rows-text'
import { useRowsWords } from './rows-words'
import { useWritten } from './written-rows'

/** Always as many: were the field to grow when it is left, what was clicked on would move away. */
const ROWS = 5

interface Props {
  title: ReactNode
  label: string
  /** Where its text is kept while it is no rows: it stays when the form goes. */
  place: string
  rows: GivenRows
  columns: readonly Column[]
  batches?: boolean
  /** Stands right of the title. */
  act?: ReactNode
  onChange: (rows: GivenRows) => void
}

/** Rows as text, JSON or CSV. They are taken over as soon as they can be read, and written anew, one a line, when the field is left; what cannot be read stays as it is. */
export function RowsField({ title, label, place, rows, columns, batches = false, act, onChange }: Props) {
  const { t } = useTranslation('canvas')
  const wordsOf = useRowsWords()
  const id = useId()
  const [focused, setFocused] = useState(false)
  const written = useWritten((state) => state.written[place])
  const { write, forget } = useWritten.getState()
  const change = (text: string) => {
    try {
      onChange(rowsOfText(text, columns, batches))
      write(place, { text })
    } catch (error) {
      write(place, { text, error })
    }
  }
  const leave = () => {
    setFocused(false)
    if (written && written.error === undefined) forget(place)
  }
  return (
    <div className="pw-tests-rows">
      <div className="pw-tests-rows-head">
        <label htmlFor={id} className="pw-cut">{title}</label>
        {act}
      </div>
      <Textarea id={id} aria-label={label} rows={ROWS} resize="vertical" wrap="off" spellCheck={false} value={written?.text ?? textOfRows(rows)} onChange={(event) => change(event.currentTarget.value)} onFocus={() => setFocused(true)} onBlur={leave} />
      {written?.error !== undefined && !focused && (
        <p className="pw-field-error" role="alert">
          <StateGlyph state="failed" />
          <span>{t('tests.isNoRows', { why: wordsOf(written.error), interpolation: { escapeValue: false } })}</span>
        </p>
      )}
    </div>
  )
}
