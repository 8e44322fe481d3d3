import type { Family } from '../../dag/document'
import './family-tile.css'
import { NodeIcon } from './node-icon'

/** The family's mark: round on the left for a source, on the right for a sink, square for a flow. */
export function FamilyTile({ family, icon, small = false }: { family: Family; icon: string; small?: boolean }) {
  return (
    <span className={`pw-tile pw-${family}${small ? ' pw-tile-small' : ''}`} aria-hidden="true">
      <NodeIcon name={icon} size={small ? 12 : 15} />
    </span>
  )
}
