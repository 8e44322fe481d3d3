import { create } from 'zustand'
import type { StartFrom } from '../api/start-job'
import type { StartParameter } from './start-parameters'

/** A start that waits for the values of its parameters. */
export interface StartAsked {
  jobName: string
  title: string
  parameters: StartParameter[]
  from: StartFrom | undefined
  after: ((executionId: string) => void) | undefined
}

export const useStartAsked = create<{ asked: StartAsked | null }>(() => ({ asked: null }))
