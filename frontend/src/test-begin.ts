/** Files of tests share what they import from elsewhere, with its singletons; of our own each file begins anew. */
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { afterEach, vi } from 'vitest'

vi.resetModules()
await i18next.use(initReactI18next).init({ lng: 'en', resources: {} })
afterEach(() => void vi.useRealTimers())
