import i18next from 'i18next'
import { answer } from './answers'

/** At an http:// address that is not this machine a browser has no clipboard; an old command still copies what is selected. */
function copiedBySelection(text: string): boolean {
  const held = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.style.position = 'fixed'
  document.body.append(field)
  field.focus()
  field.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
    if (held instanceof HTMLElement) held.focus()
  }
}

// The types of a browser promise one.
const clipboard = () => navigator.clipboard as Clipboard | undefined

/** Copies `text`, and says whether that could be done. */
export async function copyText(text: string): Promise<void> {
  const written = clipboard()?.writeText(text).then(() => true, () => copiedBySelection(text))
  const done = await (written ?? copiedBySelection(text))
  answer(done, i18next.t(done ? 'shared:copied' : 'shared:notCopied'))
}

/** The text of the clipboard; throws where it cannot be read. */
export async function pastedText(): Promise<string> {
  const held = clipboard()
  if (!held) throw new Error('this address has no clipboard')
  return held.readText()
}
