import { ActionIcon, Button, SegmentedControl, Select, TextInput, Textarea } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { DagDocument, Json, JobType } from '../../dag/document'
import { isRealTime } from '../../dag/may-stand'
import { changeDocument } from './change-setting'
import { CheckpointSettings } from './checkpoint-settings'
import { useDocument, useEditor } from './editor-store'
import { SettingChoice } from './setting-choice'
import { SettingField } from './setting-field'

const JOB_TYPES: JobType[] = ['STREAMING', 'BATCH_ROLLER', 'SQL_TASK']
const TIMES = ['trigger_interval', 'retry_interval'] as const
const NUMBERS = ['parallelism', 'max_retry_times'] as const
const CHOICES = { trigger: ['interval', 'real_time'], rejected_rows: ['dead_letter', 'drop', 'fail'], state_store: ['rocksdb', 'memory'], isolation: ['shared', 'dedicated'] } as const

interface Parameter {
  type?: string
  default?: Json
}

/** No number is no default: it must then be given at the start. */
const typed = (type: string, text: string): Json => {
  if (type === 'number' || type === 'integer') return text.trim() === '' ? null : Number.isFinite(Number(text)) ? Number(text) : text
  return type === 'boolean' ? text === 'true' : text
}

function Parameters({ document }: { document: DagDocument }) {
  const { t } = useTranslation('canvas')
  const entries = Object.entries(document.parameters) as [string, Parameter][]
  const write = (next: [string, Parameter][]) => changeDocument(document, { parameters: Object.fromEntries(next) as Record<string, Json> }, 'parameters')
  const replace = (index: number, entry: [string, Parameter]) => write(entries.map((old, place) => (place === index ? entry : old)))
  return (
    <div className="pw-field">
      <label>{t('parameters')}</label>
      <div className="pw-rows">
        {entries.map(([name, parameter], index) => (
          <div className="pw-rows-row" key={index}>
            <div className="pw-row-fields">
              <TextInput value={name} aria-label={t('parameterName')} classNames={{ input: 'pw-mono' }} onChange={(event) => replace(index, [event.currentTarget.value, parameter])} />
              <Select value={parameter.type ?? 'string'} data={['string', 'number', 'integer', 'boolean']} aria-label={t('parameterType')} allowDeselect={false} onChange={(type) => replace(index, [name, { type: type ?? 'string', default: typed(type ?? 'string', String(parameter.default ?? '')) }])} />
              <TextInput value={String(parameter.default ?? '')} aria-label={t('parameterDefault')} classNames={{ input: 'pw-mono' }} onChange={(event) => replace(index, [name, { ...parameter, default: typed(parameter.type ?? 'string', event.currentTarget.value) }])} />
            </div>
            <ActionIcon variant="subtle" color="gray" size={22} aria-label={t('removeRow')} onClick={() => write(entries.filter((_, place) => place !== index))}>
              <IconX size={14} />
            </ActionIcon>
          </div>
        ))}
        <Button variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => write([...entries, [`parameter_${entries.length + 1}`, { type: 'string', default: '' }]])}>
          {t('addParameter')}
        </Button>
      </div>
      <p className="pw-field-help">{t('parametersHelp')}</p>
    </div>
  )
}

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
        <CheckpointSettings />
        <Parameters document={document} />
        <div className="pw-field">
          <label htmlFor="setting_description">{t('description')}</label>
          <Textarea id="setting_description" autosize minRows={2} maxRows={8} value={document.description ?? ''} onChange={(event) => changeDocument(document, { description: event.currentTarget.value }, 'description')} />
        </div>
      </fieldset>
    </>
  )
}
