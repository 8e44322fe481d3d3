import { lazy, type ComponentType } from 'react'

const AGAIN_AFTER_MS = 2_000

const pause = () => new Promise((done) => setTimeout(done, AGAIN_AFTER_MS))

const serverAnswers = () => fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
  () => true,
  () => false,
)

/** What `load` brings. While the server does not answer it is tried again: what waits for it keeps its place. */
export async function loadedPatiently<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load()
    } catch {
      if (await serverAnswers()) return load()
      await pause()
    }
  }
}

/** Like `lazy`, for a part of a page that holds work not saved yet: a server that is away for a while must not take the page down. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as React's own `lazy` has it
export const later = <T extends ComponentType<any>>(load: () => Promise<{ default: T }>) => lazy(() => loadedPatiently(load))
