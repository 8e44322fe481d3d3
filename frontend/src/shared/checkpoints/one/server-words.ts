import type { TFunction } from 'i18next'
import { said } from '../../../api/sentences/said'

/** What the server says in one of its own sentences, and the words for it here; what is found stands in the words. */
type Known = readonly (readonly [RegExp, string])[]

const YOUNG = '; it goes once nothing of it has changed for an hour'

const REASONS: Known = [
  [/^older than the newest (?<count>\d+)$/, 'reason.newest'],
  [/^older than (?<count>\d+) days?$/, 'reason.days'],
  [/^older than (?<count>\d+) hours?$/, 'reason.hours'],
  [/^older than (?<count>\d+) minutes?$/, 'reason.minutes'],
  [/^the checkpoints of its job would take more than (?<room>.+)$/, 'reason.room'],
  [/^its execution was cancelled, and its settings delete checkpoints then$/, 'reason.cancelled'],
  [/^its execution completed, and its settings delete checkpoints then$/, 'reason.completed'],
  [/^one of the newest (?<count>\d+)$/, 'reason.oneOfNewest'],
  [/^the newest of its job$/, 'reason.newestOfJob'],
  [/^execution (?<execution>[^-\s]+)\S* needs it$/, 'reason.needed'],
  [/^a savepoint$/, 'reason.savepoint'],
  [/^pinned$/, 'reason.pinned'],
  [/^its job was deleted$/, 'reason.jobDeleted'],
  [/^of a job that this installation does not know/, 'reason.foreign'],
  [/^live folder of a generation that was superseded$/, 'reason.superseded'],
  [/^left by a restore that did not finish$/, 'reason.restoreLeft'],
  [/^left by a checkpoint that did not finish$/, 'reason.checkpointLeft'],
  [/^its files are in another store$/, 'reason.elsewhere'],
  [/^its checkpoint failed or was deleted$/, 'reason.rowEnded'],
  [/^no checkpoint stands for it$/, 'reason.noRow'],
]

const REFUSALS: Known = [
  [/^"(?<node>.+)" keeps state, /, 'refused.state'],
  [/^nothing of it was read yet/, 'refused.unread'],
  [/^its messages lie in a buffer of its own/, 'refused.buffer'],
  [/^Spark keeps its position in a log of its own/, 'refused.log'],
  [/^it is read whole, or in an order/, 'refused.whole'],
]

const DAMAGES: Known = [
  [/^its files are not there$/, 'damage.gone'],
  [/^(?<file>\S+) is damaged: its checksum does not fit$/, 'damage.checksum'],
  [/^(?<file>\S+) is missing$/, 'damage.missing'],
  [/^(?<file>\S+) has (?<found>\d+) bytes instead of (?<wanted>\d+)$/, 'damage.size'],
]

function worded(t: TFunction<'checkpoint'>, known: Known, sentence: string): string {
  for (const [pattern, key] of known) {
    const found = pattern.exec(sentence)
    if (found) return t(key as 'damage.missing', { ...found.groups })
  }
  return said(sentence)
}

/** Why a rule deletes a checkpoint or a folder, or keeps it; a person's reason is shown as it is. */
export function deletionWords(t: TFunction<'checkpoint'>, reason: string): string {
  const young = reason.endsWith(YOUNG)
  const words = worded(t, REASONS, young ? reason.slice(0, -YOUNG.length) : reason)
  return young ? t('reason.young', { why: words }) : words
}

/** Why the position of a source cannot be set. */
export const refusalWords = (t: TFunction<'checkpoint'>, refused: string): string => worded(t, REFUSALS, refused)

/** What is wrong with which file, without saying again that it is damaged. */
export function damageWords(t: TFunction<'checkpoint'>, reason: string): string {
  const { what = reason, files } = /^it is damaged: (?<what>.+?)(?: \((?<files>\d+) files are wrong\))?$/.exec(reason)?.groups ?? {}
  const words = worded(t, DAMAGES, what)
  return files ? `${words} ${t('damage.others', { count: Number(files) })}` : words
}
