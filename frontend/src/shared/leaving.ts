/** What a page says that leaving would lose: `ask` gets the way on, for who wants to leave all the same. */
interface Hold {
  needed: () => boolean
  ask: (goOn: () => void) => void
}

let hold: Hold | null = null

/** Holds the page while `needed`; the answer lets go of it. */
export function holdPage(next: Hold): () => void {
  hold = next
  return () => {
    if (hold === next) hold = null
  }
}

export const isHeld = (): boolean => hold?.needed() ?? false

/** Goes on to another page, at once or when the one that is held says so. */
export function leavePage(goOn: () => void): void {
  if (!hold?.needed()) return goOn()
  hold.ask(() => {
    hold = null
    goOn()
  })
}
