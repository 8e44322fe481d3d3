import { Switch } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { DeliveryWords } from '../../shared/delivery-words'
import { changeSetting } from './change-setting'
import { useDocument, useEditor } from './editor-store'
import { SettingChoice } from './setting-choice'
import { SettingField } from './setting-field'
import { SettingProblem } from './setting-problem'

const ENDS = ['keep', 'delete'] as const

/** When the job's checkpoints are taken, how long that may take, what becomes of them, and what its nodes promise of its rows. */
export function CheckpointSettings() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const delivery = useEditor((state) => state.delivery)
  const eachPage = document.settings.checkpoint_each_page
  const hasPages = document.type === 'BATCH_ROLLER' || eachPage !== undefined
  return (
    <section className="pw-setting-group" aria-labelledby="setting_checkpoints">
      <h3 id="setting_checkpoints">{t('checkpoints.title')}</h3>
      {document.type !== 'SQL_TASK' && <p className="pw-field-help">{t('checkpoints.help')}</p>}
      {hasPages && (
        <div className="pw-field">
          <Switch size="xs" label={t('setting.checkpoint_each_page')} checked={eachPage === true} onChange={(event) => changeSetting(document, 'checkpoint_each_page', event.currentTarget.checked || undefined)} />
          <SettingProblem name="checkpoint_each_page" />
        </div>
      )}
      {document.type !== 'SQL_TASK' && (
        <>
          <div className="pw-field-pair">
            <SettingField name="checkpoint_interval" />
            <SettingField name="checkpoint_rows" number />
            <SettingField name="checkpoint_min_pause" />
            <SettingField name="checkpoint_timeout" />
          </div>
          <SettingField name="checkpoint_tolerable_failures" number />
          <SettingField name="checkpoint_storage" />
          <SettingChoice name="checkpoint_on_cancel" values={ENDS} />
          <SettingChoice name="checkpoint_on_completion" values={ENDS} />
        </>
      )}
      {delivery && <DeliveryWords delivery={delivery} />}
    </section>
  )
}
