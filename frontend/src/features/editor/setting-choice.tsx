import { SegmentedControl } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { changeSetting } from './change-setting'
import { useDocument } from './editor-store'
import { SettingProblem } from './setting-problem'

/** A setting that is one of a few words; the first is what holds unless the installation says otherwise. */
export function SettingChoice({ name, values }: { name: string; values: readonly string[] }) {
  const { t, i18n } = useTranslation('canvas')
  const document = useDocument()
  return (
    <div className="pw-field">
      <label>{t(`setting.${name}`)}</label>
      <SegmentedControl fullWidth aria-label={t(`setting.${name}`)} value={String(document.settings[name] ?? values[0])} data={values.map((value) => ({ value, label: t(`settingValue.${value}`) }))} onChange={(value) => changeSetting(document, name, value)} />
      {i18n.exists(`canvas:settingHelp.${name}`) && <p className="pw-field-help">{t(`settingHelp.${name}`)}</p>}
      <SettingProblem name={name} />
    </div>
  )
}
