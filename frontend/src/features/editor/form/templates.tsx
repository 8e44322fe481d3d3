import { ActionIcon, Button } from '@mantine/core'
import type { ArrayFieldItemTemplateProps, ArrayFieldTemplateProps, FieldTemplateProps, ObjectFieldTemplateProps, TemplatesType } from '@rjsf/utils'
import { IconPlus, IconTableImport, IconX } from '@tabler/icons-react'
import type { MouseEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { StateGlyph } from '../../../shared/state-glyph'
import type { Config } from '../../../dag/document'
import { areErrors, type FormHelp } from './form-context'
import { hasVariedRows, isBrief, isFolded, isSet, isShown, linesOf, takesInput, withDefaults } from './form-schema'
import { HelpText } from './help-text'
import { lacks, takenColumns } from './taken-columns'
import { useNewRow } from './use-new-row'

function Errors({ messages, id, help }: { messages: string[] | undefined; id: string; help: FormHelp }) {
  if (!messages?.length) return null
  const warns = !areErrors(help, messages)
  return (
    <p className={`pw-field-error${warns ? ' pw-field-warning' : ''}`} id={`${id}__error`} role="alert">
      <StateGlyph state={warns ? 'warning' : 'failed'} />
      <span>{messages.join(' ')}</span>
    </p>
  )
}

/** A field beside others in a row: too narrow for a sentence, so the row tells what is wrong with it. */
const isCell = (path: readonly (string | number)[]) => path.length > 1 && typeof path.at(-1) === 'string'

/** One level: label above, field, what is wrong and the help below: a field that is not filled in yet is when help is wanted. A cell's help hovers. */
function FieldTemplate({ id, label, children, rawDescription, rawErrors, required, schema, fieldPathId, hidden, registry }: FieldTemplateProps) {
  const { t } = useTranslation('canvas')
  if (hidden) return null
  const isRow = fieldPathId.path.length > 1
  const messages = isCell(fieldPathId.path) ? [] : rawErrors
  if (schema.type === 'object' && fieldPathId.path.length === 0) return children
  if (isRow && schema.type === 'object') return children
  return (
    <div className={`pw-field${isRow ? ' pw-field-cell' : ''}`} data-field={fieldPathId.path.join('.')} title={isRow ? rawDescription : undefined}>
      {label && (schema.type !== 'boolean' || isRow) && (
        <label htmlFor={id}>
          {label}
          {!required && !isRow && schema.default === undefined && <small>{t('optional')}</small>}
        </label>
      )}
      {children}
      <Errors messages={messages} id={id} help={registry.formContext as FormHelp} />
      {!isRow && rawDescription && <HelpText text={rawDescription} brief={isBrief(schema)} />}
    </div>
  )
}

type Property = ObjectFieldTemplateProps['properties'][number]

function Lines({ properties, isShort }: { properties: readonly Property[]; isShort: (property: Property) => boolean }) {
  return linesOf(properties, isShort).map((line) =>
    line.length === 1 ? (
      line[0]?.content
    ) : (
      <div className="pw-field-pair" key={line[0]?.name}>
        {line.map((property) => property.content)}
      </div>
    ),
  )
}

function ObjectFieldTemplate({ properties, schema, formData, fieldPathId, errorSchema, registry }: ObjectFieldTemplateProps) {
  const { t } = useTranslation('canvas')
  const fields = (schema.properties ?? {}) as Record<string, Record<string, unknown>>
  const data = withDefaults(schema, (formData ?? {}) as Record<string, unknown>)
  const shown = properties.filter((property) => !property.hidden && isShown(fields[property.name] ?? {}, data))
  if (fieldPathId.path.length > 0) {
    return (
      <div>
        <div className="pw-row-fields">{shown.map((property) => property.content)}</div>
        <Errors messages={errorSchema?.__errors} id={fieldPathId.$id} help={registry.formContext as FormHelp} />
        {shown.map(({ name }) => (
          <Errors key={name} messages={errorSchema?.[name]?.__errors} id={`${fieldPathId.$id}_${name}`} help={registry.formContext as FormHelp} />
        ))}
      </div>
    )
  }
  const folded = shown.filter(({ name }) => isFolded(fields[name] ?? {}, data))
  const lines = (some: typeof shown) => <Lines properties={some} isShort={({ name }) => fields[name]?.['x-half'] === true} />
  if (shown.length === 0) return <p className="pw-field-help">{t('noSettings')}</p>
  const set = folded.filter(({ name }) => isSet(fields[name] ?? {}, data[name])).length
  return (
    <>
      {lines(shown.filter((property) => !folded.includes(property)))}
      {folded.length > 0 && (
        <details className="pw-advanced">
          <summary>
            {t('advanced', { count: folded.length })}
            {set > 0 && <small>{t('advancedSet', { count: set })}</small>}
          </summary>
          <div>{lines(folded)}</div>
        </details>
      )}
    </>
  )
}

function ArrayFieldTemplate({ items, canAdd, onAddClick, title, schema, formData, fieldPathId, registry }: ArrayFieldTemplateProps) {
  const { t } = useTranslation('canvas')
  const { columns, readOnly, write } = registry.formContext as FormHelp
  const rows = (formData ?? []) as Config[]
  const takes = takesInput(schema) && !readOnly && lacks(rows, columns)
  const { host, added } = useNewRow<HTMLDivElement>(items.length)
  const add = (event: MouseEvent) => {
    added()
    onAddClick(event)
  }
  const kinds = `${items.length <= 1 && !takes ? ' pw-rows-few' : ''}${hasVariedRows(schema) ? ' pw-rows-varied' : ''}`
  return (
    <div className={`pw-rows${kinds}`} ref={host}>
      {items}
      <div className="pw-rows-acts">
        {canAdd && (
          <Button variant="subtle" leftSection={<IconPlus size={14} />} onClick={add}>
            {t('addTo', { what: title?.toLowerCase() })}
          </Button>
        )}
        {takes && (
          <Button variant="subtle" leftSection={<IconTableImport size={14} />} onClick={() => write(String(fieldPathId.path[0]), takenColumns(rows, columns))}>
            {t('takeInput')}
          </Button>
        )}
      </div>
    </div>
  )
}

function ArrayFieldItemTemplate({ children, buttonsProps }: ArrayFieldItemTemplateProps) {
  const { t } = useTranslation('canvas')
  return (
    <div className="pw-rows-row">
      {children}
      <ActionIcon variant="subtle" color="gray" size={22} aria-label={t('removeRow')} title={t('removeRow')} onClick={buttonsProps.onRemoveItem}>
        <IconX size={14} />
      </ActionIcon>
    </div>
  )
}

export const templates: Partial<TemplatesType> = { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate }
