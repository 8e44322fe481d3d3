import { said } from '../../api/sentences/said'
import type { Problem } from '../../dag/document'
import { lessName } from '../../dag/less-name'
import { fieldTitle } from '../canvas/field-words'
import { useEditor } from './editor-store'

/** What a problem says, in the reader's language: the field that it is about is called there as its form calls it. `beside`: the node's name. */
export function problemSaid(problem: Pick<Problem, 'code' | 'message' | 'pointer'>, beside = ''): string {
  const { history, catalogue } = useEditor.getState()
  const [, nodes, id = '', config, ...path] = problem.pointer.split('/')
  const type = nodes === 'nodes' && config === 'config' && problem.code.startsWith('config.') ? catalogue.get(history.present.document.nodes[id]?.type ?? '') : undefined
  return lessName(said(type ? fieldTitle(problem.message, type.schema, type.type, path) : problem.message), beside)
}
