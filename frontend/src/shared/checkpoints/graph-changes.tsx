import { useTranslation } from 'react-i18next'
import { said } from '../../api/sentences/said'
import type { GraphChange } from '../../api/types'
import { StateGlyph } from '../state-glyph'
import './changes/i18n'

const GLYPHS: Record<GraphChange['verdict'], string> = { same: 'completed', compatible: 'completed', compatible_with_warning: 'warning', state_dropped: 'expired', needs_fresh_start: 'failed' }

/** What becomes of each node, the reasons in the reader's language. */
export function GraphChanges({ changes }: { changes: GraphChange[] }) {
  const { t } = useTranslation(['checkpoints', 'changes'])
  return (
    <table className="pw-changes" aria-label={t('changes:title')}>
      <tbody>
        {changes.map((change) => (
          <tr key={change.node_id} data-verdict={change.verdict}>
            <th scope="row" title={change.node_id}>{change.name || t('changes:job')}</th>
            <td>
              <span className="pw-line pw-nowrap">
                <StateGlyph state={GLYPHS[change.verdict]} /> {t(`verdict.${change.verdict}`)}
              </span>
            </td>
            <td>{t(`changes:of.${change.code}` as 'changes:of.same', { ...change.facts, defaultValue: said(change.message) })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
