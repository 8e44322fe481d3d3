import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { saySilence } from '../api/request'
import { sentencesReady } from '../api/sentences/said'
import sharedEn from '../shared/locales/en.json'
import sharedZh from '../shared/locales/zh.json'
import en from './locales/en.json'
import zh from './locales/zh.json'

export type Language = 'en' | 'zh'
const KEY = 'pipeline-web-language'

const YEAR_SECONDS = 31_536_000

/** The page says its language; a cookie carries it to the pages that the server draws, such as signing in. */
function speak(language: Language): void {
  document.documentElement.lang = language
  document.cookie = `${KEY}=${language}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
}

const known = (word: string | null): Language | null => (word?.startsWith('zh') ? 'zh' : word?.startsWith('en') ? 'en' : null)
const first = known(localStorage.getItem(KEY)) ?? known(navigator.language) ?? 'en'

void i18next.use(initReactI18next).init({
  lng: first,
  fallbackLng: 'en',
  ns: ['app', 'shared'],
  defaultNS: 'app',
  resources: { en: { app: en, shared: sharedEn }, zh: { app: zh, shared: sharedZh } },
  interpolation: { escapeValue: false },
  react: { bindI18nStore: 'added', useSuspense: false },
})
saySilence(() => i18next.t('shared:silent'))
speak(first)
// What shows one of the server's sentences by then is drawn again.
void sentencesReady().then(() => i18next.addResourceBundle(first, 'sentences', {}))

export function setLanguage(language: Language): void {
  localStorage.setItem(KEY, language)
  speak(language)
  void sentencesReady().then(() => i18next.changeLanguage(language))
}
