import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the retention rule, its clean-up and what no row needs. */
i18next.addResourceBundle('en', 'cleaning', en)
i18next.addResourceBundle('zh', 'cleaning', zh)
