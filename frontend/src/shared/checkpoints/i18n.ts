import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words about checkpoints, on their page and on an execution's. */
i18next.addResourceBundle('en', 'checkpoints', en)
i18next.addResourceBundle('zh', 'checkpoints', zh)
