import i18next from 'i18next'
import '../parts/i18n'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words about one checkpoint, and about how an execution's went. */
i18next.addResourceBundle('en', 'checkpoint', en)
i18next.addResourceBundle('zh', 'checkpoint', zh)
