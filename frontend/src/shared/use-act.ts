import { useState } from 'react'
import { answer, type Answer } from './answers'

interface Act<T> {
  run: () => Promise<T>
  /** What it did, in words. */
  done: (result: T) => string
  link?: (result: T) => Answer['link']
  after?: (result: T) => void
  /** A remedy to offer with a refusal. */
  remedy?: (error: Error) => Answer['link']
}

/** Runs one act at a time, says what came of it, and tells whether one is under way. */
export function useAct(): [busy: string | null, act: <T>(name: string, act: Act<T>) => Promise<boolean>] {
  const [busy, setBusy] = useState<string | null>(null)
  const act = async <T>(name: string, { run, done, link, after, remedy }: Act<T>) => {
    setBusy(name)
    try {
      const result = await run()
      answer(true, done(result), link?.(result))
      after?.(result)
      return true
    } catch (error) {
      answer(false, (error as Error).message, remedy?.(error as Error))
      return false
    } finally {
      setBusy(null)
    }
  }
  return [busy, act]
}
