/** What jsdom lacks and Mantine asks for. Files share a document and what they import from elsewhere; of our own each begins anew. */
import '@testing-library/jest-dom/vitest'
import { cleanup } from '@testing-library/react'
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, vi } from 'vitest'

vi.resetModules()
await i18next.use(initReactI18next).init({ lng: 'en', resources: {} })

document.body.replaceChildren()
localStorage.clear()
window.matchMedia ??= vi.fn().mockImplementation((query: string) => ({ matches: false, media: query, addEventListener: vi.fn(), removeEventListener: vi.fn() }))
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
}
if (!('fonts' in document)) Object.defineProperty(document, 'fonts', { value: new EventTarget() })
afterEach(cleanup)
