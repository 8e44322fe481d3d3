import { useTranslation } from 'react-i18next'
import type { NodeNames } from './node-names'
import { isRecord, offsetLines } from './offset-lines'

/** Where each source stood. */
export function CheckpointOffsets({ stateData, names }: { stateData: Record<string, unknown>; names: NodeNames }) {
  const { t } = useTranslation('checkpoints')
  const sources = isRecord(stateData.sources) ? stateData.sources : {}
  const entries = Object.entries(sources)
  if (entries.length === 0) return <p className="pw-help">{t('detail.noOffsets')}</p>
  return (
    <table className="pw-facts">
      <tbody>
        {entries.flatMap(([node, offsets]) =>
          offsetLines(offsets).map(([path, value]) => (
            <tr key={`${node}/${path}`}>
              <th scope="row">
                {names[node] ?? node}
                {path ? ` · ${path}` : ''}
              </th>
              <td className="pw-mono-11">{value}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  )
}
