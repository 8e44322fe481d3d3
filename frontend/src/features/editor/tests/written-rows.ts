import { create } from 'zustand'

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
