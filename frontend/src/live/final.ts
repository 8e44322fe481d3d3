import type { Status } from '../api/types'

const FINAL: readonly Status[] = ['COMPLETED', 'FAILED', 'CANCELLED']

export const isFinal = (status: Status): boolean => FINAL.includes(status)
