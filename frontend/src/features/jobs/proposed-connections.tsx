import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { readKinds } from '../../api/read-kinds'
import type { ProposedConnection } from '../../api/types'
import { useConnectionAsked } from '../../shared/connection-asked'
import { connectionPlace } from '../../shared/connection-place'
import { StateGlyph } from '../../shared/state-glyph'
import { kindTitle } from '../canvas/field-words'

interface Needed extends ProposedConnection {
  /** Of the job that needs it. */
  project: string
}

const keyOf = ({ project, kind, name, config }: Needed) => JSON.stringify([project, kind, name, config])

/** What imported files need of connections, each once; a person creates them, and enters their secrets. */
export default function ProposedConnections({ connections }: { connections: readonly Needed[] }) {
  const { t } = useTranslation('jobs')
  const [made, setMade] = useState<ReadonlySet<string>>(new Set())
  const kinds = useQuery({ queryKey: ['connection-kinds'], queryFn: readKinds, staleTime: 600_000 })
  const titleOf = (word: string) => {
    const kind = kinds.data?.find((one) => one.kind === word)
    return kind ? kindTitle(kind) : word
  }
  const whereOf = (one: ProposedConnection) => [titleOf(one.kind), connectionPlace(one)].filter(Boolean).join(' · ')
  const each = new Map(connections.map((connection) => [keyOf(connection), connection]))
  const create = (key: string, { name, kind, config, project }: Needed) =>
    useConnectionAsked.setState({ asked: { name, kinds: [kind], config, project, after: () => setMade((old) => new Set([...old, key])) } })
  return (
    <section aria-label={t('import.connections')}>
      <h3>{t('import.connections')}</h3>
      <p className="pw-help">{t('import.connectionsHelp')}</p>
      <ul className="pw-outcomes">
        {[...each].map(([key, connection]) => (
          <li key={key}>
            <StateGlyph state={made.has(key) ? 'completed' : 'warning'} />
            <div className="pw-grow">
              <div className="pw-cut">{connection.name}</div>
              <div className="pw-11 pw-3 pw-wrap">{whereOf(connection)}</div>
            </div>
            {made.has(key) && <span className="pw-11 pw-3">{t('import.created')}</span>}
            {!made.has(key) && <Button onClick={() => create(key, connection)}>{t('import.create')}</Button>}
          </li>
        ))}
      </ul>
    </section>
  )
}
