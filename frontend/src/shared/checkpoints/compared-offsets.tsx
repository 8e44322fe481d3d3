import { useTranslation } from 'react-i18next'
import type { CheckpointComparison } from '../../api/types'
import { count, NO_VALUE } from '../numbers'
import type { NodeNames } from './node-names'
import { offsetLines } from './offset-lines'
import { signed } from './signed'

const isCount = (text: string | undefined): text is string => text !== undefined && /^-?\d+$/.test(text)

const said = (text: string | undefined) => (isCount(text) ? count(Number(text)) : (text ?? NO_VALUE))

/** One source: a line for each part of its position, and in the last column the rows between the two. */
function Source({ source, name }: { source: CheckpointComparison['sources'][number]; name: string }) {
  const { t } = useTranslation('checkpoints')
  const [first, second] = [new Map(offsetLines(source.first)), new Map(offsetLines(source.second))]
  const paths = [...new Set([...first.keys(), ...second.keys()])]
  return (
    <>
      <tr>
        <th scope="row" colSpan={source.unknown ? 1 : 3}><b>{name}</b></th>
        {source.unknown ? <td colSpan={3} className="pw-wrap">{t(`compare.unknown.${source.unknown}`)}</td> : <td><b>{t('compare.rows', { rows: signed(source.rows ?? 0) })}</b></td>}
      </tr>
      {paths.map((path) => {
        const [one, other] = [first.get(path), second.get(path)]
        return (
          <tr key={path}>
            <th scope="row" className="pw-compare-part">{path}</th>
            <td className="pw-mono-11">{said(one)}</td>
            <td className="pw-mono-11">{said(other)}</td>
            <td className="pw-mono-11">{isCount(one) && isCount(other) ? signed(Number(other) - Number(one)) : ''}</td>
          </tr>
        )
      })}
    </>
  )
}

/** Where each source stood in two checkpoints. */
export function ComparedOffsets({ sources, names }: { sources: CheckpointComparison['sources']; names: NodeNames }) {
  const { t } = useTranslation('checkpoints')
  if (sources.length === 0) return <p className="pw-help">{t('detail.noOffsets')}</p>
  return (
    <table className="pw-facts pw-compare-table">
<colgroup><col className="pw-compare-name" /><col /><col /><col /></colgroup>
      <tbody>
        {sources.map((source) => <Source key={source.node_id} source={source} name={names[source.node_id] ?? source.node_id} />)}
      </tbody>
    </table>
  )
}
