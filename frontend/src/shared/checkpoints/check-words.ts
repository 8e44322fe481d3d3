import type { TFunction } from 'i18next'
import { said } from '../../api/sentences/said'
import type { Precheck } from '../../api/types'

/** The sentences that the server writes about a restore; what it quotes of others (a damaged file) is shown as it is. */
const CHECKS: readonly [RegExp, string][] = [
  [/^All (?<files>\d+) files are there and whole$/, 'whole'],
  [/^It cannot be restored: (?<why>.+)$/, 'not'],
  [/^It cannot be read now: (?<why>.+)$/, 'away'],
  [/^Its files are on the disk of (?<host>.+), where the restore checks them$/, 'elsewhere'],
  [/^It cannot be read: (?<why>.+)\. Choose an earlier one$/, 'damaged'],
  [/^Its job was deleted$/, 'deleted'],
  [/^Its job is disabled: enable it first$/, 'disabled'],
  [/^Its job can be started$/, 'startable'],
  [/^No other execution of the job is under way$/, 'alone'],
  [/^Execution (?<execution>\S+) is paused: the restore cancels it and keeps its checkpoints$/, 'paused'],
  [/^Execution (?<execution>\S+) is (?<status>\S+): stop or cancel it first$/, 'unfinished'],
  [/^It starts version (?<version>\d+), the current one, in a new generation$/, 'current'],
  [/^It starts version (?<version>\d+), which it was taken of; version (?<other>\d+) is current$/, 'own'],
  [/^It starts version (?<version>\d+); it was taken of version (?<other>\d+)$/, 'other'],
  [/^It starts version (?<version>\d+); it was taken of version (?<other>\d+) of "(?<job>.*)"$/, 'brought'],
  [/^"(?<sink>.*)": what this job wrote before stays where it is$/, 'stays'],
  [/^Version (?<version>\d+)(?:, which it was taken of,)? can no longer be read$/, 'unreadable'],
  [/^"(?<sink>.*)": rows written since this checkpoint are still there and are written again \(within one generation the sink writes exactly once\)$/, 'repeatsExactly'],
  [/^"(?<sink>.*)": rows written since this checkpoint are still there and are written again \(within one generation the sink writes at least once\)$/, 'repeatsAtLeast'],
  [/^"(?<sink>.*)": rows written since this checkpoint are still there and are written again$/, 'repeats'],
  [/^"(?<sink>.*)": rows since this checkpoint come again and replace those with the same keys$/, 'replaces'],
  [/^Sinks were rolled back to checkpoint (?<number>\d+) since: rows that they wrote from there to this one are not brought back$/, 'rolledBack'],
  [/^The two versions cannot be compared: (?<why>.+)$/, 'incomparable'],
]

/** One check in the reader's language, as far as the server's words are known. */
export function checkWords(t: TFunction<'checkpoints'>, check: Precheck['checks'][number]): string {
  for (const [pattern, key] of CHECKS) {
    const found = pattern.exec(check.message)
    if (found) return t(`check.${key}` as 'check.whole', { ...found.groups, execution: found.groups?.execution?.slice(0, 8) })
  }
  return said(check.message) || check.name
}
