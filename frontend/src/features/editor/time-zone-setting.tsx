import { Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { timeZones } from '../../shared/time-zones'
import { changeSetting } from './change-setting'
import { useDocument } from './editor-store'
import { SettingProblem } from './setting-problem'

/** The time zone in which a job reads and writes days and hours. Empty: UTC. */
export function TimeZoneSetting() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const zone = String(document.settings.time_zone ?? '')
  return (
    <div className="pw-field">
      <label htmlFor="setting_time_zone">{t('setting.time_zone')}</label>
      <Select id="setting_time_zone" searchable clearable placeholder="UTC" value={zone || null} data={timeZones(zone)} onChange={(value) => changeSetting(document, 'time_zone', value ?? undefined)} />
      <p className="pw-field-help">{t('settingHelp.time_zone')}</p>
      <SettingProblem name="time_zone" />
    </div>
  )
}
