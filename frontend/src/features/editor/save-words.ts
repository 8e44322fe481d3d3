import type { TFunction } from 'i18next'
import type { SaveState } from './editor-store'

/** Whether the drawing is on the server, or why not; `nameWaits`: all but a parameter's name, which will not do. */
export function saveWords(t: TFunction<'canvas'>, save: SaveState, revision: number, nameWaits: boolean): string {
  if (save.kind === 'conflict') return t('save.conflict', { by: save.by, revision: save.revision })
  if (save.kind === 'failed') return save.refused ? t('save.refused', { why: save.refused }) : t('save.failed')
  if (nameWaits) return t('save.nameWaits')
  if (save.kind === 'saved') return t('save.saved', { revision })
  return save.kind === 'offline' ? t('save.offline') : t('save.saving')
}
