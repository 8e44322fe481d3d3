import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the dialogs through which checkpoints travel; they come with them. */
i18next.addResourceBundle('en', 'travel', en)
i18next.addResourceBundle('zh', 'travel', zh)
