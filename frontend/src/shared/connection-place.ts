import type { Connection } from '../api/types'

interface Option {
  name: string
  value: string
}

const joined = (parts: unknown[], sign: string) => parts.filter(Boolean).join(sign)

const served = (host: unknown, port: unknown, below: string) => (host ? joined([host, port], ':') + below : '')

/** Where each system is, in one line without its secrets. */
export function connectionPlace({ config }: Pick<Connection, 'config'>): string {
  if (config.bucket) return joined([config.endpoint, config.bucket, config.folder], '/')
  if (Array.isArray(config.options)) {
    const told = Object.fromEntries((config.options as Option[]).map(({ name, value }) => [name, value]))
    const folder = String(config.folder ?? '')
    return served(told.host, told.port, `/${folder.replace(/^\/+/, '')}`) || folder
  }
  return String(config.base_url ?? config.url ?? config.servers ?? config.path ?? served(config.host, config.port, config.database ? `/${String(config.database)}` : ''))
}
