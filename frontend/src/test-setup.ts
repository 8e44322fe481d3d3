/** What jsdom lacks and Mantine asks for; tests that draw begin with `@vitest-environment jsdom`. */
import { afterEach, vi } from 'vitest'

if (typeof window !== 'undefined') {
  await import('@testing-library/jest-dom/vitest')
  const { cleanup } = await import('@testing-library/react')
  window.matchMedia ??= vi.fn().mockImplementation((query: string) => ({ matches: false, media: query, addEventListener: vi.fn(), removeEventListener: vi.fn() }))
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  if (!('fonts' in document)) Object.defineProperty(document, 'fonts', { value: new EventTarget() })
  afterEach(cleanup)
}
