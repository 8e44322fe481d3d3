import { SegmentedControl, Textarea } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { DagDocument, JobType } from '../../dag/document'
import { isRealTime } from '../../dag/may-stand'
import { changeDocument } from './change-setting'
import { CheckpointSettings } from './checkpoint-settings'
import { useDocument, useEditor } from './editor-store'
import { ParameterList } from './parameter-list'
import { SettingChoice } from './setting-choice'
import { SettingField } from './setting-field'
import { TimeZoneSetting } from './time-zone-setting'

const JOB_TYPES: JobType[] = ['STREAMING', 'BATCH_ROLLER', 'SQL_TASK']
const TIMES = ['trigger_interval', 'retry_interval'] as const
const NUMBERS = ['parallelism', 'max_retry_times'] as const
const CHOICES = { trigger: ['interval', 'real_time'], rejected_rows: ['dead_letter', 'drop', 'fail'], state_store: ['rocksdb', 'memory'], isolation: ['shared', 'dedicated'] } as const

/** Left out: what has no meaning for a single query, which has one batch and nothing to go on with, or for a stream in real time, which keeps no state and has a driver of its own. */
const hasMeaning = (document: DagDocument, name: string) => {
  if (name === 'trigger') return document.type === 'STREAMING' || document.settings.trigger === 'real_time'
  if (isRealTime(document) && (name === 'isolation' || name === 'state_store')) return false
  return document.type !== 'SQL_TASK' || (name !== 'trigger_interval' && name !== 'state_store')
}

/** Settings of the whole job: its kind, how often it runs a batch, what happens to rejected rows, its checkpoints. */
export function JobPanel() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const readOnly = useEditor((state) => state.readOnly)
  const has = (name: string) => hasMeaning(document, name)
  return (
    <>
      <header className="pw-panel-head">
        <h2>{t('jobSettings')}</h2>
      </header>
      <fieldset className="pw-panel-body pw-form" disabled={readOnly}>
        <div className="pw-field">
          <label>{t('jobType')}</label>
          <SegmentedControl fullWidth value={document.type} data={JOB_TYPES.map((value) => ({ value, label: t(`jobTypes.${value}`) }))} onChange={(value) => changeDocument(document, { type: value as JobType }, '')} />
          <p className="pw-field-help">{t(`jobTypeHelp.${document.type}`)}</p>
        </div>
        <div className="pw-field-pair">
          {TIMES.filter(has).map((name) => <SettingField key={name} name={name} />)}
          {NUMBERS.map((name) => <SettingField key={name} name={name} number />)}
        </div>
        {Object.entries(CHOICES).filter(([name]) => has(name)).map(([name, values]) => <SettingChoice key={name} name={name} values={values} />)}
        <TimeZoneSetting />
        <CheckpointSettings />
        <ParameterList />
        <div className="pw-field">
          <label htmlFor="setting_description">{t('description')}</label>
          <Textarea id="setting_description" autosize minRows={2} maxRows={8} value={document.description ?? ''} onChange={(event) => changeDocument(document, { description: event.currentTarget.value }, 'description')} />
        </div>
      </fieldset>
    </>
  )
}
