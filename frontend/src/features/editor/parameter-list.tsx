import { ActionIcon, Button, Select, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { newRow, rowFaults, type ParameterRow, type RowFault } from './parameter-rows'
import { useParameterRows, writeRows } from './use-parameter-rows'

const TYPES = ['string', 'number', 'integer', 'boolean']
const NONE = ''

interface FieldProps {
  row: ParameterRow
  onChange: (row: ParameterRow) => void
}

/** A value, or none: then it must be given at the start. */
function DefaultField({ row, onChange }: FieldProps) {
  const { t } = useTranslation('canvas')
  const { type, text } = row
  if (type === 'boolean') {
    const data = [{ value: NONE, label: t('parameterAsked') }, 'true', 'false']
    return (
      <Select
        className="pw-row-whole"
        value={text === 'true' || text === 'false' ? text : NONE}
        data={data}
        aria-label={t('parameterDefault')}
        allowDeselect={false}
        onChange={(chosen) => onChange({ ...row, text: chosen || null })}
      />
    )
  }
  const none = t('parameterNoDefault')
  const off = text !== null && type === 'string' && (
    <ActionIcon variant="subtle" color="gray" size={18} aria-label={none} title={none} onClick={() => onChange({ ...row, text: null })}>
      <IconX size={12} />
    </ActionIcon>
  )
  return (
    <TextInput
      className="pw-row-whole"
      value={text ?? ''}
      placeholder={text === null || type !== 'string' ? t('parameterAsked') : t('parameterEmpty')}
      aria-label={t('parameterDefault')}
      classNames={{ input: 'pw-mono' }}
      rightSection={off || undefined}
      onChange={(event) => onChange({ ...row, text: event.currentTarget.value })}
    />
  )
}

function ParameterFields({ fault, onRemove, ...field }: FieldProps & { fault: RowFault | undefined; onRemove: () => void }) {
  const { t } = useTranslation('canvas')
  const { row, onChange } = field
  return (
    <div className="pw-rows-row">
      <div className="pw-row-fields">
        <TextInput
          value={row.name}
          aria-label={t('parameterName')}
          classNames={{ input: 'pw-mono' }}
          error={fault && t(`parameterFault.${fault}`)}
          onChange={(event) => onChange({ ...row, name: event.currentTarget.value })}
        />
        <Select
          value={row.type}
          data={TYPES}
          aria-label={t('parameterType')}
          allowDeselect={false}
          onChange={(type) => onChange({ ...row, type: type ?? 'string' })}
        />
        <DefaultField {...field} />
      </div>
      <ActionIcon variant="subtle" color="gray" size={22} aria-label={t('removeRow')} onClick={onRemove}>
        <IconX size={14} />
      </ActionIcon>
    </div>
  )
}

/** The job's parameters: name, type, and the default, if any. */
export function ParameterList() {
  const { t } = useTranslation('canvas')
  const rows = useParameterRows()
  const faults = rowFaults(rows)
  return (
    <div className="pw-field">
      <label>{t('parameters')}</label>
      <div className="pw-rows">
        {rows.map((row) => (
          <ParameterFields
            key={row.key}
            row={row}
            fault={faults.get(row.key)}
            onChange={(row) => writeRows(rows.map((old) => (old.key === row.key ? row : old)))}
            onRemove={() => writeRows(rows.filter((old) => old !== row))}
          />
        ))}
        <Button variant="subtle" leftSection={<IconPlus size={14} />} onClick={() => writeRows([...rows, newRow(rows)])}>
          {t('addParameter')}
        </Button>
      </div>
      <p className="pw-field-help">{t('parametersHelp')}</p>
    </div>
  )
}
