import { useTranslation } from 'react-i18next'

type Values = Record<string, unknown>

const isRecord = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Nested positions as lines: "orders / 0" → 88,412. */
function linesOf(value: unknown, path: string): [string, string][] {
  if (isRecord(value)) return Object.entries(value).flatMap(([key, inner]) => linesOf(inner, path ? `${path} / ${key}` : key))
  return [[path, typeof value === 'string' ? value : JSON.stringify(value)]]
}

/** Where each source stood. */
export function CheckpointOffsets({ stateData }: { stateData: Values }) {
  const { t } = useTranslation('checkpoints')
  const sources = isRecord(stateData.sources) ? stateData.sources : {}
  const entries = Object.entries(sources)
  if (entries.length === 0) return <p className="pw-help">{t('detail.noOffsets')}</p>
  return (
    <table className="pw-facts">
      <tbody>
        {entries.flatMap(([node, offsets]) =>
          linesOf(offsets, '').map(([path, value]) => (
            <tr key={`${node}/${path}`}>
              <th scope="row">
                {node}
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
