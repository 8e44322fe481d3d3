/** What jsdom lacks and Mantine asks for. Files share a document: each finds it empty, and at the address of Home. */
import '@testing-library/jest-dom/vitest'
import { cleanup } from '@testing-library/react'
import { afterEach, vi } from 'vitest'

document.body.replaceChildren()
localStorage.clear()
sessionStorage.clear()
history.replaceState(null, '', '/')
window.matchMedia ??= vi.fn().mockImplementation((query: string) => ({ matches: false, media: query, addEventListener: vi.fn(), removeEventListener: vi.fn() }))
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
}
Element.prototype.scrollIntoView ??= vi.fn()
if (!('fonts' in document)) Object.defineProperty(document, 'fonts', { value: new EventTarget() })
afterEach(cleanup)
