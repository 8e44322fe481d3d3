import { useEffect, useRef, useState } from 'react'
import { changeDocument } from './change-setting'
import { useDocument, useEditor } from './editor-store'
import { parameterRows, parametersIn, type ParameterRow } from './parameter-rows'

/** Writes the rows into the drawing, where they are complete and say something new. */
function keepRows(rows: readonly ParameterRow[]): void {
  const { document } = useEditor.getState().history.present
  const parameters = parametersIn(rows)
  const isNew = JSON.stringify(parameters) !== JSON.stringify(document.parameters)
  if (parameters && isNew) changeDocument(document, { parameters }, 'parameters')
}

export interface ParameterRows {
  rows: readonly ParameterRow[]
  /** Typed on: kept at the end of typing. */
  type: (row: ParameterRow) => void
  /** Done at once. */
  put: (rows: readonly ParameterRow[]) => void
  keep: () => void
}

/** The job's parameters as rows, which hold what is half typed; a drawing that was changed elsewhere, such as by Undo, is taken over. */
export function useParameterRows(): ParameterRows {
  const { parameters } = useDocument()
  const [held, setHeld] = useState(() => ({ parameters, rows: parameterRows(parameters) }))
  if (held.parameters !== parameters) {
    const same = JSON.stringify(parametersIn(held.rows)) === JSON.stringify(parameters)
    setHeld({ parameters, rows: same ? held.rows : parameterRows(parameters) })
  }
  const latest = useRef<readonly ParameterRow[] | null>(null)
  const show = (rows: readonly ParameterRow[]) => {
    latest.current = rows
    setHeld((old) => ({ ...old, rows: [...rows] }))
  }
  const keep = () => {
    if (latest.current) keepRows(latest.current)
    latest.current = null
  }
  useEffect(() => keep, [])
  return {
    rows: held.rows,
    type: (row) => show(held.rows.map((old) => (old.key === row.key ? row : old))),
    put: (rows) => {
      show(rows)
      keep()
    },
    keep,
  }
}
