import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the API tokens. */
i18next.addResourceBundle('en', 'tokens', en)
i18next.addResourceBundle('zh', 'tokens', zh)
