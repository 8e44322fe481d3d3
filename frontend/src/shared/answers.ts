import { create } from 'zustand'

export interface Answer {
  id: number
  ok: boolean
  text: string
  at: number
  link?: { words: string; to: string } | { words: string; run: () => void } | undefined
}

const SHOWN_MS = 7_000
/** A failure is read twice, and an offer thought about; a refusal with a way out stays until it is taken or sent away. */
const LONG_SHOWN_MS = 20_000
/** What was looked at stays for as long after one has looked away. */
const AFTER_MS = 5_000
let next = 1

/** What acts did, and when: shown for a while at the page's corner, and while one looks at them. */
export const useAnswers = create<{ answers: Answer[]; dismiss: (id: number) => void }>((set) => ({
  answers: [],
  dismiss: (id) => {
    ends.delete(id)
    set((state) => ({ answers: state.answers.filter((one) => one.id !== id) }))
    // What is taken away under the pointer or the focus tells no end of either.
    holdAnswers(false)
  },
}))

/** Answer → when its time is over. */
const ends = new Map<number, number>()
let held = false
let timer: ReturnType<typeof setTimeout> | undefined

function endOver(): void {
  clearTimeout(timer)
  if (held) return
  const now = Date.now()
  for (const [id, end] of [...ends]) if (end <= now) useAnswers.getState().dismiss(id)
  if (ends.size > 0) timer = setTimeout(endOver, Math.max(0, Math.min(...ends.values()) - now))
}

/** While the pointer or the focus is on the answers none of them goes. */
export function holdAnswers(hold: boolean): void {
  if (held === hold) return
  held = hold
  const least = Date.now() + AFTER_MS
  if (!hold) for (const [id, end] of ends) ends.set(id, Math.max(end, least))
  endOver()
}

export function answer(ok: boolean, text: string, link?: Answer['link']): void {
  const id = next
  next += 1
  useAnswers.setState((state) => ({ answers: [...state.answers.slice(-3), { id, ok, text, at: Date.now(), link }] }))
  if (!ok && link) return
  ends.set(id, Date.now() + (ok && !link ? SHOWN_MS : LONG_SHOWN_MS))
  endOver()
}
