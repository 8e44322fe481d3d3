import type { Checkpoint } from '../../api/types'

/** A complete one whose files were found to be other than what was written. */
export const isDamaged = ({ status, failure_reason }: Pick<Checkpoint, 'status' | 'failure_reason'>): boolean => status === 'COMPLETED' && failure_reason !== ''

/** Its status, but DAMAGED of one that is complete and no good. */
export const shownState = (checkpoint: Pick<Checkpoint, 'status' | 'failure_reason'>): string => (isDamaged(checkpoint) ? 'DAMAGED' : checkpoint.status)
