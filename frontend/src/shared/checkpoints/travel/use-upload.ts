import { useEffect, useRef, useState } from 'react'
import type { Checkpoint } from '../../../api/types'
import { importArchive } from './travel-requests'

interface Upload {
  /** Null while nothing is sent; 1 while the server compares. */
  share: number | null
  /** Why it was refused, in the server's words. */
  error: string
  start: (job: string, file: File) => void
  stop: () => void
}

/** Sends one archive; closing the dialog ends it. */
export function useUpload(onDone: (checkpoint: Checkpoint) => void): Upload {
  const [share, setShare] = useState<number | null>(null)
  const [error, setError] = useState('')
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])
  const start = (job: string, file: File) => {
    running.current = new AbortController()
    setShare(0)
    setError('')
    importArchive(job, file, setShare, running.current.signal)
      .then(onDone)
      .catch((failure: Error) => setError(failure.name === 'AbortError' ? '' : failure.message))
      .finally(() => setShare(null))
  }
  return { share, error, start, stop: () => running.current?.abort() }
}
