import i18next from 'i18next'
import '../../shared/checkpoints/changes/i18n'
import en from './locales/en.json'
import zh from './locales/zh.json'

/** Words of the list of executions and of one execution. */
i18next.addResourceBundle('en', 'executions', en)
i18next.addResourceBundle('zh', 'executions', zh)
