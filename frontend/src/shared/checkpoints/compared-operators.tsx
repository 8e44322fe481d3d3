import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../api/types'
import { count, NO_VALUE } from '../numbers'
import { operatorName, type NodeNames } from './node-names'
import { SignedBytes } from './signed-bytes'
import { signed } from './signed'
import { SizeFigure } from './size-figure'

type Held = { name: string; rows: number; bytes: number }

/** By query and operator; one that stands twice in a query is told apart by its place. */
function held(checkpoint: Checkpoint, names: NodeNames): Map<string, Held> {
  const found = new Map<string, Held>()
  for (const one of checkpoint.operators) {
    const name = `${String(one.query ?? '')} · ${operatorName(one, names)}`
    let key = name
    for (let place = 2; found.has(key); place += 1) key = `${name} (${place})`
    found.set(key, { name: key, rows: Number(one.rows ?? 0), bytes: Number(one.bytes ?? 0) })
  }
  return found
}

/** What the operators of each query held in two checkpoints: rows and bytes. */
export function ComparedOperators({ first, second, names }: { first: Checkpoint; second: Checkpoint; names: NodeNames }) {
  const { t } = useTranslation('checkpoints')
  const [before, after] = [held(first, names), held(second, names)]
  const lines = [...new Set([...before.keys(), ...after.keys()])]
  if (lines.length === 0) return null
  const figure = (one: Held | undefined) => (one ? <>{count(one.rows)} {t('detail.rows')} · <SizeFigure value={one.bytes} /></> : NO_VALUE)
  return (
    <section>
      <h3>{t('detail.operators')}</h3>
      <table className="pw-facts pw-compare-table">
<colgroup><col className="pw-compare-name" /><col /><col /><col /></colgroup>
        <tbody>
          {lines.map((name) => {
            const [one, other] = [before.get(name), after.get(name)]
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{figure(one)}</td>
                <td>{figure(other)}</td>
                <td>{one && other && <>{signed(other.rows - one.rows)} · <SignedBytes value={other.bytes - one.bytes} /></>}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
