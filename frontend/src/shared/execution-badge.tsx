import type { Execution } from '../api/types'
import { isUnconfirmed } from './execution-state'
import { StateBadge } from './state-badge'
import { useStateWord } from './state-word'
import { useNow } from './use-now'

/** The state of an execution, or UNCONFIRMED once its driver has been silent past its lease. */
export function ExecutionBadge({ execution, long = false }: { execution: Execution; long?: boolean }) {
  const now = useNow()
  const said = useStateWord()
  if (isUnconfirmed(execution, now)) return <StateBadge state="stale" word={long ? `${said(execution.status)}, ${said('UNCONFIRMED')}` : said('UNCONFIRMED')} />
  return <StateBadge state={execution.shown_status} />
}
