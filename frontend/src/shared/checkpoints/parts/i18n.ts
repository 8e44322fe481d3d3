import i18next from 'i18next'
import '../i18n'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words about checkpoints that only their charts, their panel and its dialogs say: they come with those. */
i18next.addResourceBundle('en', 'checkpoints', en, true)
i18next.addResourceBundle('zh', 'checkpoints', zh, true)
