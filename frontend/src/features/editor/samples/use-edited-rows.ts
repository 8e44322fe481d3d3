import { useState } from 'react'
import { said } from '../../../api/sentences/said'
import type { Sample } from '../../../api/types'
import { ApiError } from '../../../api/request'
import type { Column, Problem, Row } from '../../../dag/document'
import { previewNode, type SampleRows } from '../draft-requests'
import { useEditor } from '../editor-store'
import { NoRows, rowsOfText, textOfRows } from '../tests/rows-text'
import { useRowsWords } from '../tests/rows-words'
import { writtenColumns } from '../tests/written-columns'
import { lineIn, rowFaults, unreadablePlace, type FaultPlace, type RowFault } from './row-faults'
import { SampleConflict } from './sample-requests'
import { columnsText } from './sample-rows'
import type { KeptSamples } from './use-samples'

/** Rows as they are written, and what is wrong with them. */
interface Written {
  text: string
  columns: string
  faults: readonly RowFault[]
  unreadable: FaultPlace | null
  /** Why they are not kept, where no row is to blame. */
  refused: string
}

/** Like JSON that begins; anything else is taken for CSV. */
export const isJson = (text: string) => /^\s*(?:[[{]|$)/.test(text)

const written = (sample: SampleRows): Written => ({ text: textOfRows(sample.rows), columns: columnsText(sample.columns), faults: [], unreadable: null, refused: '' })

export const EMPTY: SampleRows = { columns: '', rows: [] }

/** What the server says of rows without keeping them: whether they fit the columns of their source. Nothing where nobody can say. */
async function checked(nodeId: string, sample: SampleRows): Promise<readonly Problem[]> {
  try {
    return (await previewNode(useEditor.getState().history.present.document, nodeId, 1, { [nodeId]: sample })).problems as Problem[]
  } catch (error) {
    if (error instanceof ApiError) return error.problems
    throw error
  }
}

/** The rows of one source while they are edited. `begin`: those with which it begins; `seen`: the revision that is kept of them, "" without any. */
export function useEditedRows(nodeId: string, kept: KeptSamples, begin: SampleRows, seen: string, types: readonly Column[]) {
  const wordsOf = useRowsWords()
  const [first, setFirst] = useState(() => written(begin))
  const [now, setNow] = useState(first)
  const [over, setOver] = useState(seen)
  const [conflict, setConflict] = useState<SampleConflict | null>(null)
  const [saving, setSaving] = useState(false)

  /** The rows as they are written now, one a line; null where they cannot be read. */
  const read = (text = now.text): Row[] | null => {
    try {
      const rows = rowsOfText(text, [...types, ...writtenColumns(now.columns)]) as Row[]
      setNow({ ...now, text: textOfRows(rows), faults: [], unreadable: null, refused: '' })
      return rows
    } catch (error) {
      const words = wordsOf(error)
      const line = error instanceof NoRows ? Number(error.values.line ?? 0) : lineIn(error instanceof Error ? error.message : '')
      setNow({ ...now, text, faults: [], unreadable: unreadablePlace(text, line, words), refused: words })
      return null
    }
  }

  const keep = async (rows: Row[], revision: string): Promise<boolean> => {
    const sample: SampleRows = { columns: now.columns.trim(), rows }
    const told = (await checked(nodeId, sample)).filter((problem) => problem.pointer.startsWith('/samples'))
    if (told.length > 0) {
      const faults = rowFaults(told, nodeId)
      setNow((before) => ({ ...before, faults, refused: faults.length > 0 ? '' : said(told[0]?.message ?? '') }))
      return false
    }
    await kept.keep(nodeId, sample, true, revision)
    return true
  }

  /** Resolves with whether the rows are kept now; `revision`: over which they are written. */
  const save = async (revision = over): Promise<boolean> => {
    const rows = read()
    if (!rows) return false
    setSaving(true)
    try {
      return await keep(rows, revision)
    } catch (error) {
      if (error instanceof SampleConflict) setConflict(error)
      else setNow((before) => ({ ...before, refused: (error as Error).message }))
      return false
    } finally {
      setSaving(false)
    }
  }

  const replace = (theirs: Sample | undefined) => {
    const shown = written(theirs ? { columns: theirs.columns, rows: theirs.rows as Row[] } : EMPTY)
    setFirst(shown)
    setNow(shown)
    setOver(theirs?.revision ?? '')
    setConflict(null)
  }

  return {
    ...now,
    isWritten: now.text !== first.text || now.columns !== first.columns,
    conflict,
    saving,
    write: (text: string) => text !== now.text && setNow({ ...now, text, faults: [], unreadable: null, refused: '' }),
    setColumns: (columns: string) => setNow({ ...now, columns, refused: '' }),
    read,
    save,
    replace,
    overwrite: () => {
      const { revision } = conflict ?? { revision: over }
      setOver(revision)
      setConflict(null)
      return save(revision)
    },
  }
}
