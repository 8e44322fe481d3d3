import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the sample rows; added when the editor is opened. */
i18next.addResourceBundle('en', 'samples', en)
i18next.addResourceBundle('zh', 'samples', zh)
