import type { DagDocument, Json } from '../../dag/document'
import { useEditor } from './editor-store'

export const changeDocument = (document: DagDocument, next: Partial<DagDocument>, key: string) => useEditor.getState().change({ document: { ...document, ...next } }, key)

/** A setting of the job; nothing, or an empty text, takes it off: then the installation's default holds. */
export function changeSetting(document: DagDocument, name: string, value: Json | undefined) {
  const rest = Object.fromEntries(Object.entries(document.settings).filter(([key]) => key !== name))
  changeDocument(document, { settings: value === undefined || value === '' ? rest : { ...rest, [name]: value } }, `settings/${name}`)
}
