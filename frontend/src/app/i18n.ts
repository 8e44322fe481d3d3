import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import sharedEn from '../shared/locales/en.json'
import sharedZh from '../shared/locales/zh.json'
import en from './locales/en.json'
import zh from './locales/zh.json'

export type Language = 'en' | 'zh'
const KEY = 'pipeline-web-language'

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
document.documentElement.lang = first

export function setLanguage(language: Language): void {
  localStorage.setItem(KEY, language)
  document.documentElement.lang = language
  void i18next.changeLanguage(language)
}
