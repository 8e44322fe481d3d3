import { parsePath, UNSAFE_createBrowserHistory, type To } from 'react-router'
import { isHeld, leavePage } from '../shared/leaving'

export type History = ReturnType<typeof UNSAFE_createBrowserHistory>
type Listener = Parameters<History['listen']>[0]
type Update = Parameters<Listener>[0]

/** Ways back that were asked for quickly come one after the other: only then is it clear how far away the browser is. */
const SETTLED_AFTER_MS = 50

/** Where the browser is among the pages that the router has numbered; null: on none of them. */
const placeNow = () => (window.history.state as { idx?: number } | null)?.idx ?? null

/** Brings the browser back to the place of the page that is still drawn. */
function wayBack(history: History, home: () => number | null) {
  let away = false
  let timer: ReturnType<typeof setTimeout>
  const goHome = () => {
    const way = (home() ?? 0) - (placeNow() ?? 0)
    if (way !== 0) history.go(way)
  }
  const end = () => {
    away = false
    clearTimeout(timer)
  }
  const begin = () => {
    clearTimeout(timer)
    away = true
    timer = setTimeout(goHome, SETTLED_AFTER_MS)
  }
  return {
    begin,
    end,
    /** Whether the browser is on its way, so that nobody else is to hear where it is by now. */
    isOn: () => {
      if (!away) return false
      if (placeNow() === home()) end()
      else begin()
      return true
    },
  }
}

/** The browser's history, except that it asks a page that is held before it shows another. The router that can do so itself is 17 KB larger. */
export function heldHistory(): History {
  const history = UNSAFE_createBrowserHistory({ v5Compat: true })
  const now = () => ({ pathname: history.location.pathname, place: placeNow() })
  let shown = now()
  const back = wayBack(history, () => shown.place)
  const isHere = (to: To) => [undefined, shown.pathname].includes(typeof to === 'string' ? parsePath(to).pathname : to.pathname)
  const asked = (write: History['push']) => (to: To, state?: unknown) => (isHere(to) ? write(to, state) : leavePage(() => write(to, state)))
  const isNumbered = () => shown.place !== null && placeNow() !== null
  const isLeft = ({ action, location }: Update) => action === 'POP' && location.pathname !== shown.pathname && isNumbered()
  const listen = (tell: Listener) => {
    shown = now()
    const show = (update: Update) => {
      back.end()
      shown = now()
      tell(update)
    }
    return history.listen((update) => {
      if (update.action === 'POP' && back.isOn()) return
      if (!isLeft(update) || !isHeld()) return show(update)
      // The browser is there already: it goes back to the page, which is still drawn, while that is asked.
      const wanted = placeNow() ?? 0
      back.begin()
      leavePage(() => {
        back.end()
        const way = wanted - (placeNow() ?? 0)
        if (way === 0) show(update)
        else history.go(way)
      })
    })
  }
  return Object.assign(Object.create(history) as History, { push: asked(history.push), replace: asked(history.replace), listen })
}
