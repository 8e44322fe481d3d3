import type { Checkpoint } from '../../api/types'

/** Nothing where no copy was ever complete. */
export const keptBytes = (row: Checkpoint, bytes: number): number | null => (row.status === 'PENDING' || row.status === 'FAILED' ? null : bytes)

/** What was kept by a person until it was deleted is kept no more. */
export const isSavepoint = (row: Checkpoint): boolean => row.is_savepoint && row.status !== 'EXPIRED'
export const isPinned = (row: Checkpoint): boolean => row.pinned && row.status !== 'EXPIRED'
