import { create } from 'zustand'

/** A connection that is to be created: its form begins with this. */
export interface ConnectionAsked {
  /** "" where nobody has one for it yet. */
  name: string
  /** It is of one of these. */
  kinds: readonly string[]
  config: Record<string, unknown>
  project: string
  /** Told the name under which it is kept. */
  after: (name: string) => void
}

export const useConnectionAsked = create<{ asked: ConnectionAsked | null }>(() => ({ asked: null }))
