import { said } from '../../api/sentences/said'
import type { ConnectionKind } from '../../api/types'
import { kindTitle } from '../canvas/field-words'
import { KindIcon } from './kind-icon'

/** Which system it shall be; those that cannot be used here say why. */
export function KindChoice({ kinds, onChoose }: { kinds: readonly ConnectionKind[]; onChoose: (kind: ConnectionKind) => void }) {
  const first = kinds.find(({ available }) => available)
  return (
    <ul className="pw-kinds">
      {kinds.map((one) => (
        <li key={one.kind}>
          <button type="button" data-autofocus={one === first || undefined} disabled={!one.available} title={said(one.unavailable_reason ?? '') || undefined} onClick={() => onChoose(one)}>
            <KindIcon icon={one.icon} />
            {kindTitle(one)}
          </button>
        </li>
      ))}
    </ul>
  )
}
