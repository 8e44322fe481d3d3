import i18next from 'i18next'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** What became of a node between two versions of a job: at a restore, and among an execution's events. */
i18next.addResourceBundle('en', 'changes', en)
i18next.addResourceBundle('zh', 'changes', zh)
