import { useOpeningView } from './use-opening-view'

/** Inside a canvas that is only looked at: it shows its drawing as it opens. */
export function Opening() {
  useOpeningView(true)
  return null
}
