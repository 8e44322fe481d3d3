import { useState } from 'react'
import type { Connection, ConnectionKind } from '../../api/types'
import type { ConnectionContent, Trial } from './connection-requests'
import { fieldsOf, initialConfig, secretsSent } from './kind-fields'

/** A form as it is written; of the secrets only those that were touched. */
interface Written {
  name: string
  description: string
  config: Record<string, unknown>
  secrets: Record<string, string | null | undefined>
}

/** A field that is left empty says nothing. */
const filled = (config: Record<string, unknown>) => Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))

const isSame = (one: Record<string, unknown>, other: Record<string, unknown>) => [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]))

const formOf = (kind: ConnectionKind, from: Partial<Connection>): Written => ({
  name: from.name ?? '',
  description: from.description ?? '',
  config: { ...initialConfig(fieldsOf(kind)), ...from.config },
  secrets: {},
})

/** What differs from the form's beginning: what somebody else changed meanwhile is not put back with it. */
function changesOf(before: Written, now: Written, trial: Trial): Partial<ConnectionContent> {
  return {
    ...(now.name.trim() === before.name ? {} : { name: now.name.trim() }),
    ...(now.description.trim() === before.description ? {} : { description: now.description.trim() }),
    ...(isSame(trial.config, filled(before.config)) ? {} : { config: trial.config }),
    ...(Object.keys(trial.secrets).length === 0 ? {} : { secrets: trial.secrets }),
  }
}

/** What is written in the form of `connection`, or of a new one that begins with `begin`. While nothing is, it follows what others change. */
export function useWrittenConnection(kind: ConnectionKind, connection: Connection | null, begin: Partial<Connection> = {}) {
  const [begun, setBegun] = useState(connection)
  const before = formOf(kind, begun ?? begin)
  const [now, setNow] = useState(before)
  const trial: Trial = { config: filled(now.config), secrets: secretsSent(kind, now.config, now.secrets, begun?.secrets ?? {}) }
  const changes = changesOf(before, now, trial)
  const isWritten = ['name', 'description', 'config'].some((field) => field in changes) || Object.values(now.secrets).some((text) => text !== undefined && text !== '')
  const take = (kept: Connection) => {
    setBegun(kept)
    setNow(formOf(kind, kept))
  }
  if (connection && begun && connection.update_time > begun.update_time && !isWritten) take(connection)
  return { now, begun, trial, changes, isWritten, take, write: (change: Partial<Written>) => setNow((old) => ({ ...old, ...change })) }
}
