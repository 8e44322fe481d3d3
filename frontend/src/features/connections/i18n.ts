import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the Connections page. */
i18next.addResourceBundle('en', 'connections', en)
i18next.addResourceBundle('zh', 'connections', zh)
