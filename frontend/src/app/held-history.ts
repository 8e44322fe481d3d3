import { parsePath, UNSAFE_createBrowserHistory, type To } from 'react-router'
import { isHeld, leavePage } from '../shared/leaving'

export type History = ReturnType<typeof UNSAFE_createBrowserHistory>
type Listener = Parameters<History['listen']>[0]

/** The browser's history, except that it asks a page that is held before it shows another. The router that can do so itself is 17 KB larger. */
export function heldHistory(): History {
  const history = UNSAFE_createBrowserHistory({ v5Compat: true })
  const isHere = (to: To) => [undefined, window.location.pathname].includes(typeof to === 'string' ? parsePath(to).pathname : to.pathname)
  const asked = (write: History['push']) => (to: To, state?: unknown) => (isHere(to) ? write(to, state) : leavePage(() => write(to, state)))
  const listen = (tell: Listener) => {
    let shown = history.location.pathname
    let takesBack = false
    return history.listen((update) => {
      const { action, location, delta } = update
      if (takesBack) {
        takesBack = false
        return
      }
      if (action === 'POP' && delta && location.pathname !== shown && isHeld()) {
        // The browser is there already: it goes back to the page, which is still drawn, before that is asked.
        takesBack = true
        history.go(-delta)
        leavePage(() => history.go(delta))
        return
      }
      shown = location.pathname
      tell(update)
    })
  }
  return Object.assign(Object.create(history) as History, { push: asked(history.push), replace: asked(history.replace), listen })
}
