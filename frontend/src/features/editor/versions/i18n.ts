import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words about the versions of a job, and how they differ. */
i18next.addResourceBundle('en', 'versions', en)
i18next.addResourceBundle('zh', 'versions', zh)
