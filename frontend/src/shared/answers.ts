import { create } from 'zustand'

export interface Answer {
  id: number
  ok: boolean
  text: string
  at: number
  link?: { words: string; to: string } | { words: string; run: () => void } | undefined
}

const SHOWN_MS = 7_000
const FAILED_SHOWN_MS = 20_000
let next = 1

/** What acts did, and when: shown for a while at the page's corner. */
export const useAnswers = create<{ answers: Answer[]; dismiss: (id: number) => void }>((set) => ({
  answers: [],
  dismiss: (id) => set((state) => ({ answers: state.answers.filter((one) => one.id !== id) })),
}))

export function answer(ok: boolean, text: string, link?: Answer['link']): void {
  const id = next
  next += 1
  useAnswers.setState((state) => ({ answers: [...state.answers.slice(-3), { id, ok, text, at: Date.now(), link }] }))
  setTimeout(() => useAnswers.getState().dismiss(id), ok ? SHOWN_MS : FAILED_SHOWN_MS)
}
