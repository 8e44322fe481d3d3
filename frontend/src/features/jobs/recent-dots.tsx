import { Tooltip } from '@mantine/core'
import { Link } from 'react-router'
import type { RecentExecution } from '../../api/types'
import { StateGlyph } from '../../shared/state-glyph'
import { useStateWord } from '../../shared/state-word'

const SHOWN = 10

/** The last ten executions, oldest first; each is a way to its page. */
export function RecentDots({ recent }: { recent: readonly RecentExecution[] }) {
  const said = useStateWord()
  const shown = recent.slice(0, SHOWN).reverse()
  return (
    <span className="pw-dots">
      {shown.map((one) => (
        <Tooltip key={one.execution_id} label={`${said(one.status)} · ${one.execution_id.slice(0, 8)}`}>
          <Link to={`/executions/${one.execution_id}`} aria-label={`${said(one.status)} ${one.execution_id.slice(0, 8)}`}>
            <StateGlyph state={one.status} size={10} />
          </Link>
        </Tooltip>
      ))}
    </span>
  )
}
