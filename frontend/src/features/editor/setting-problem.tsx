import { said } from '../../api/sentences/said'
import { StateGlyph } from '../../shared/state-glyph'
import { useEditor } from './editor-store'

/** What is wrong with a setting of the job, below its field. */
export function SettingProblem({ name }: { name: string }) {
  const problem = useEditor((state) => state.problems.find((candidate) => candidate.pointer === `/settings/${name}`))
  if (!problem) return null
  const isError = problem.severity === 'error'
  return (
    <p className={isError ? 'pw-field-error' : 'pw-field-help pw-warn'} role={isError ? 'alert' : undefined}>
      {isError && <StateGlyph state="failed" />}
      <span>{said(problem.message)}</span>
    </p>
  )
}
