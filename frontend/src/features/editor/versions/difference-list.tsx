import { useTranslation } from 'react-i18next'
import type { Difference, FieldDifference } from '../../../dag/difference'
import type { DagDocument, DagEdge, Json } from '../../../dag/document'

const shown = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value, null, 1))

function Value({ value }: { value: Json | undefined }) {
  const { t } = useTranslation('versions')
  return value === undefined || value === '' ? <span className="pw-dim">{t('missing')}</span> : <span className="pw-mono pw-wrap">{shown(value)}</span>
}

/** What the two sides are called. */
interface Sides {
  before: string
  after: string
}

function Fields({ fields, before: old, after: now }: Sides & { fields: readonly FieldDifference[] }) {
  return (
    <table className="pw-diff-fields">
      <thead className="pw-hidden">
        <tr>
          <td />
          <th scope="col">{old}</th>
          <th scope="col">{now}</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row" className="pw-mono pw-wrap">
              {path}
            </th>
            <td>
              <del>
                <Value value={before} />
              </del>
            </td>
            <td>
              <ins>
                <Value value={after} />
              </ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface Props extends Sides {
  difference: Difference
  /** Both documents, of which edges take the names of their nodes. */
  both: DagDocument
}

/** What differs, field by field. */
export function DifferenceList({ difference, both, ...sides }: Props) {
  const { t } = useTranslation('versions')
  const end = ([id, port]: DagEdge['from']) => `${both.nodes[id]?.name ?? id}.${port}`
  return (
    <div className="pw-diff-list">
      {difference.nodes.map(({ id, name, change, fields }) => (
        <section key={id}>
          <h4>
            <span className="pw-wrap">{name}</span> <span className={`pw-chip pw-diff-chip-${change}`}>{t(`change.${change}`)}</span>
          </h4>
          {fields.length > 0 && <Fields fields={fields} {...sides} />}
        </section>
      ))}
      {difference.edges.length > 0 && (
        <section>
          <h4>{t('edges')}</h4>
          <ul>
            {difference.edges.map(({ edge, change }) => (
              <li key={`${end(edge.from)} ${end(edge.to)}`}>
                <span className="pw-wrap">
                  {end(edge.from)} → {end(edge.to)}
                </span>{' '}
                <span className={`pw-chip pw-diff-chip-${change}`}>{t(`change.${change}`)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {difference.rest.length > 0 && (
        <section>
          <h4>{t('elsewhere')}</h4>
          <Fields fields={difference.rest} {...sides} />
        </section>
      )}
    </div>
  )
}
