import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the Jobs page. */
i18next.addResourceBundle('en', 'jobs', en)
i18next.addResourceBundle('zh', 'jobs', zh)
