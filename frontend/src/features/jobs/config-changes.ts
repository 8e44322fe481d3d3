import type { ConfigChange, JobConfig } from '../../api/types'

export type ConfigRow = Pick<JobConfig, 'config_key' | 'config_value' | 'description'>

/** What differs from the settings as they were read; nothing else is sent, for somebody else may have changed it meanwhile. */
export function configChanges(found: readonly JobConfig[], rows: readonly ConfigRow[]): ConfigChange[] {
  const named = rows.filter((row) => row.config_key.trim())
  // A key that stands there twice is sent as it is: the server says so.
  const isTwice = (key: string) => named.filter((row) => row.config_key === key).length > 1
  const written = named.flatMap((row): ConfigChange[] => {
    const kept = found.find((one) => one.config_key === row.config_key)
    if (kept?.config_value === row.config_value && !isTwice(row.config_key)) return []
    return [{ ...row, config_type: kept?.config_type ?? null, seen: kept?.update_time ?? null }]
  })
  const gone = found.filter((one) => !named.some((row) => row.config_key === one.config_key))
  return [...written, ...gone.map(({ config_key, config_type, description, update_time }) => ({ config_key, config_value: null, config_type, description, seen: update_time }))]
}
