import i18next from 'i18next'
import en from './locales/en.json'
import typesZh from './locales/node-types.zh.json'
import zh from './locales/zh.json'

/** Words of the canvas and the editor; added when the first of them is shown. */
i18next.addResourceBundle('en', 'canvas', en)
i18next.addResourceBundle('zh', 'canvas', zh)
i18next.addResourceBundle('zh', 'nodeTypes', typesZh)
