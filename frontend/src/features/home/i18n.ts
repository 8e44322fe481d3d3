import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of Home. */
i18next.addResourceBundle('en', 'home', en)
i18next.addResourceBundle('zh', 'home', zh)
