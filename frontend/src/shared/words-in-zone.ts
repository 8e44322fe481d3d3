import type { TFunction } from 'i18next'

/** What a schedule means, with its time zone where that is not the reader's: the times beside it are the reader's. */
export const wordsInZone = (t: TFunction<[string, 'shared']>, { words, time_zone }: { words: string; time_zone: string }): string =>
  time_zone === Intl.DateTimeFormat().resolvedOptions().timeZone ? words : t('shared:wordsInZone', { words, zone: time_zone, interpolation: { escapeValue: false } })
