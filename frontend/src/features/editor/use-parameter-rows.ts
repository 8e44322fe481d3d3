import { useMemo } from 'react'
import { create } from 'zustand'
import type { DagDocument } from '../../dag/document'
import { changeDocument } from './change-setting'
import { useDocument, useEditor } from './editor-store'
import { isUnnamed, namedRows, parameterRows, parametersIn, type ParameterRow } from './parameter-rows'

/** The rows as they are typed, also while the panel is closed, and the drawing's parameters that they are of: with others they are past. */
const useTyped = create<{ of: DagDocument['parameters'] | null; rows: readonly ParameterRow[] }>(() => ({ of: null, rows: [] }))

/** Writes the rows into the drawing, each under the name that will do. */
export function writeRows(typed: readonly ParameterRow[]): void {
  const { document } = useEditor.getState().history.present
  const rows = namedRows(typed)
  const parameters = parametersIn(rows)
  const isNew = JSON.stringify(parameters) !== JSON.stringify(document.parameters)
  useTyped.setState({ of: isNew ? parameters : document.parameters, rows })
  if (isNew) changeDocument(document, { parameters }, 'parameters')
}

/** A name that was typed will not do: it is all of the parameters that the drawing does not have. */
export function nameWaits(): boolean {
  const { of, rows } = useTyped.getState()
  return of === useEditor.getState().history.present.document.parameters && isUnnamed(rows)
}

export function useNameWaits(): boolean {
  useTyped()
  useDocument()
  return nameWaits()
}

/** The job's parameters as rows, which hold what is half typed; a drawing that was changed elsewhere, such as by Undo, is taken over. */
export function useParameterRows(): readonly ParameterRow[] {
  const { parameters } = useDocument()
  const typed = useTyped()
  const drawn = useMemo(() => parameterRows(parameters), [parameters])
  return typed.of === parameters ? typed.rows : drawn
}
