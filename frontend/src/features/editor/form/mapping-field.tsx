import { ActionIcon, Button, TextInput } from '@mantine/core'
import type { FieldProps } from '@rjsf/utils'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useNewRow } from './use-new-row'

/** Names and values, such as HTTP headers: one pair a row. */
export function MappingField({ formData, onChange, fieldPathId, schema }: FieldProps) {
  const { t } = useTranslation('canvas')
  const pairs = Object.entries((formData ?? {}) as Record<string, unknown>)
  const { host, added } = useNewRow<HTMLDivElement>(pairs.length)
  const add = () => {
    added()
    write([...pairs, ['', '']])
  }
  const write = (next: [string, unknown][]) => onChange(Object.fromEntries(next), fieldPathId.path)
  return (
    <div className="pw-field" data-field={fieldPathId.path.join('.')}>
      <label>{schema.title}</label>
      <div className="pw-rows" ref={host}>
        {pairs.map(([name, value], index) => (
          <div className="pw-rows-row" key={index}>
            <div className="pw-row-fields">
              <TextInput value={name} aria-label={t('mappingName')} onChange={(event) => write(pairs.map((pair, place) => (place === index ? [event.currentTarget.value, value] : pair)))} />
              <TextInput value={String(value ?? '')} aria-label={t('mappingValue')} onChange={(event) => write(pairs.map((pair, place) => (place === index ? [name, event.currentTarget.value] : pair)))} />
            </div>
            <ActionIcon variant="subtle" color="gray" size={22} aria-label={t('removeRow')} onClick={() => write(pairs.filter((_, place) => place !== index))}>
              <IconX size={14} />
            </ActionIcon>
          </div>
        ))}
        <Button variant="subtle" leftSection={<IconPlus size={14} />} disabled={pairs.some(([name]) => name === '')} onClick={add}>
          {t('addTo', { what: String(schema.title ?? '').toLowerCase() })}
        </Button>
      </div>
      {schema.description && <p className="pw-field-help">{schema.description}</p>}
    </div>
  )
}
