import type { TFunction } from 'i18next'
import type { SaveState } from './editor-store'

/** Whether the drawing is on the server, or why not. */
export function saveWords(t: TFunction<'canvas'>, save: SaveState, revision: number): string {
  if (save.kind === 'saved') return t('save.saved', { revision })
  if (save.kind === 'conflict') return t('save.conflict', { by: save.by, revision: save.revision })
  if (save.kind === 'failed') return save.refused ? t('save.refused', { why: save.refused }) : t('save.failed')
  return save.kind === 'offline' ? t('save.offline') : t('save.saving')
}
