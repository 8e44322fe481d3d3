import { TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { changeSetting } from './change-setting'
import { useDocument } from './editor-store'
import { SettingProblem } from './setting-problem'

/** A setting that is written: a duration, or with `number` a whole number. Empty: the installation's default. */
export function SettingField({ name, number = false }: { name: string; number?: boolean }) {
  const { t, i18n } = useTranslation('canvas')
  const document = useDocument()
  const write = (text: string) => changeSetting(document, name, number && /^-?\d+$/.test(text.trim()) ? Number(text) : text)
  return (
    <div className="pw-field">
      <label htmlFor={`setting_${name}`}>{t(`setting.${name}`)}</label>
      <TextInput id={`setting_${name}`} value={String(document.settings[name] ?? '')} placeholder={t('installationDefault')} onChange={(event) => write(event.currentTarget.value)} />
      {i18n.exists(`canvas:settingHelp.${name}`) && <p className="pw-field-help">{t(`settingHelp.${name}`)}</p>}
      <SettingProblem name={name} />
    </div>
  )
}
