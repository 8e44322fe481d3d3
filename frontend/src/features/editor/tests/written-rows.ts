import { create } from 'zustand'
import type { PipelineTest } from '../../../dag/document'
import { useEditor } from '../editor-store'

interface Written {
  text: string
  /** Why the text holds no rows; none: it does. */
  error?: unknown
}

interface WrittenRows {
  /** By its place: the text of a field of rows that is being written, or holds no rows. */
  written: Record<string, Written>
  write: (place: string, written: Written) => void
  /** Of this place and of those below. */
  forget: (place: string) => void
}

const isOf = (place: string, whole: string) => place === whole || place.startsWith(`${whole}/`)

/** What is written into fields of rows: it outlives them, so that one can look elsewhere before it can be read. */
export const useWritten = create<WrittenRows>((set) => ({
  written: {},
  write: (place, one) => set(({ written }) => ({ written: { ...written, [place]: one } })),
  forget: (place) => set(({ written }) => ({ written: Object.fromEntries(Object.entries(written).filter(([key]) => !isOf(key, place))) })),
}))

/** Where what is written for a test of a job stands. */
export const placeOfTest = (jobName: string, number: number) => `${jobName}/${number}`

/** Whether something is written for a test that cannot be read. */
export const isUnreadable = (place: string) => Object.entries(useWritten.getState().written).some(([key, { error }]) => isOf(key, place) && error !== undefined)

type Tests = readonly PipelineTest[]
const NONE: Tests = []

/** Where the test that stood at `number` stands now, which is where it was if it was only changed; null: it is gone. */
function numberAfter(before: Tests, after: Tests, number: number): number | null {
  const found = after.findIndex((test) => test === before[number])
  return found >= 0 ? found : before.length === after.length ? number : null
}

/** What is written goes along with its test, also where others before it are removed, or come back by Undo. */
function follow(jobName: string, before: Tests, after: Tests): void {
  const moved = Object.entries(useWritten.getState().written).flatMap(([place, one]): [string, Written][] => {
    if (!isOf(place, jobName)) return [[place, one]]
    const [number = '', ...rest] = place.slice(jobName.length + 1).split('/')
    const next = numberAfter(before, after, Number(number))
    return next === null ? [] : [[[placeOfTest(jobName, next), ...rest].join('/'), one]]
  })
  useWritten.setState({ written: Object.fromEntries(moved) })
}

useEditor.subscribe((now, last) => {
  const [before, after] = [last, now].map(({ history }) => history.present.document.tests ?? NONE) as [Tests, Tests]
  if (before !== after && now.jobName === last.jobName) follow(now.jobName, before, after)
})
