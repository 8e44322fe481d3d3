import { create } from 'zustand'

/** A connection that is to be created: its form begins with this. */
export interface ConnectionAsked {
  name: string
  kind: string
  config: Record<string, unknown>
  project: string
  after: () => void
}

export const useConnectionAsked = create<{ asked: ConnectionAsked | null }>(() => ({ asked: null }))
