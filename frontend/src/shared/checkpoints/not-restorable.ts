import type { TFunction } from 'i18next'
import { said } from '../../api/sentences/said'
import type { Checkpoint } from '../../api/types'

/** Why a checkpoint cannot be restored, "" if it can: the server's words where its status has none here. */
export const notRestorable = (t: TFunction<'checkpoints'>, { status, restorable_reason }: Pick<Checkpoint, 'status' | 'restorable_reason'>): string =>
  restorable_reason && t(`reason.${status}`, { defaultValue: said(restorable_reason) })
