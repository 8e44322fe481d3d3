import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the dialog that deletes checkpoints. */
i18next.addResourceBundle('en', 'deletion', en)
i18next.addResourceBundle('zh', 'deletion', zh)
