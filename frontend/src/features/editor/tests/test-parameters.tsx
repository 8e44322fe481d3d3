import { ActionIcon, Select, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Json, PipelineTest } from '../../../dag/document'
import { useDocument, useEditor } from '../editor-store'
import { parameterRows, textOf, typedDefault, type ParameterRow } from '../parameter-rows'

interface Props {
  test: PipelineTest
  change: (next: PipelineTest, key: string) => void
}

interface FieldProps {
  row: ParameterRow
  /** What the test says; undefined: it takes the default. */
  value: Json | undefined
  /** null: the default again. */
  write: (text: string | null) => void
}

/** Text is taken over while it is written, as it is written. */
function ParameterField({ row, value, write }: FieldProps) {
  const { t } = useTranslation('canvas')
  const [text, setText] = useState<string | null>(null)
  const shown = textOf(value)
  const placeholder = row.text === null ? t('tests.parameterWanted') : t('tests.parameterDefault', { value: row.text })
  if (row.type === 'boolean') return <Select size="xs" label={row.name} placeholder={placeholder} clearable data={['true', 'false']} value={shown} onChange={write} />
  return (
    <TextInput
      size="xs"
      label={row.name}
      placeholder={placeholder}
      classNames={{ input: 'pw-mono' }}
      value={text ?? shown ?? ''}
      onChange={(event) => {
        setText(event.currentTarget.value)
        write(event.currentTarget.value || null)
      }}
      onBlur={() => setText(null)}
    />
  )
}

/** The values of the job's parameters in one test: the defaults, unless it says others; nothing where the job has none. */
export function TestParameters({ test, change }: Props) {
  const { t } = useTranslation('canvas')
  const declared = useDocument().parameters
  const readOnly = useEditor((state) => state.readOnly)
  const rows = parameterRows(declared)
  const lost = Object.keys(test.parameters ?? {}).filter((name) => !(name in declared))
  if (rows.length + lost.length === 0) return null
  const write = (name: string, value: Json | undefined) => {
    const { parameters, ...rest } = test
    const values = Object.fromEntries(Object.entries({ ...parameters, [name]: value }).filter(([, one]) => one !== undefined)) as Record<string, Json>
    change(Object.keys(values).length > 0 ? { ...rest, parameters: values } : rest, `parameters/${name}`)
  }
  return (
    <>
      <h3>{t('tests.parameters')}<small>{t('tests.parametersHelp')}</small></h3>
      <div className="pw-tests-parameters">
        {rows.map((row) => (
          <ParameterField key={row.name} row={row} value={test.parameters?.[row.name]} write={(text) => write(row.name, text === null ? undefined : typedDefault(row.type, text))} />
        ))}
      </div>
      {lost.map((name) => (
        <div key={name} className="pw-tests-rows-head">
          <span>{name} ({t('tests.noLongerThere')})</span>
          {!readOnly && (
            <ActionIcon variant="subtle" color="gray" size={20} aria-label={t('tests.removeParameter', { name })} onClick={() => write(name, undefined)}>
              <IconX size={12} />
            </ActionIcon>
          )}
        </div>
      ))}
    </>
  )
}
