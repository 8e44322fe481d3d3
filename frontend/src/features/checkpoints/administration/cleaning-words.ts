import type { TFunction } from 'i18next'
import type { RetentionItem } from '../../../api/types'
import { bytes, duration } from '../../../shared/numbers'

/** Why a checkpoint goes or stays, by its kind and the limits it speaks of, in the reader's language. */
export function whyOf(t: TFunction<'cleaning'>, { kind, newest, age, room, needed_by: execution }: Pick<RetentionItem, 'kind' | 'newest' | 'age' | 'room' | 'needed_by'>): string {
  const { value, unit } = bytes(room)
  const key = kind === 'NEWEST' && !age ? 'NEWEST_ageless' : kind
  return t(`why.${key}`, { newest, age: duration(age === null ? null : age * 1000), room: `${value} ${unit}`, execution: execution.slice(0, 8) })
}
