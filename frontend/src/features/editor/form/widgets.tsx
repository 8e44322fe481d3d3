import { Autocomplete, SegmentedControl, Select, Switch, TagsInput, Textarea, TextInput, type ComboboxItem, type OptionsFilter } from '@mantine/core'
import type { RegistryWidgetsType, WidgetProps } from '@rjsf/utils'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { later } from '../../../shared/later'
import { areErrors, offeredColumns, type FormHelp } from './form-context'
import { isBrief } from './form-schema'

const CodeField = later(() => import('./code-field'))

const help = (props: WidgetProps) => props.registry.formContext as FormHelp
const errorOf = (props: WidgetProps) => areErrors(help(props), props.rawErrors)
const example = (props: WidgetProps) => (Array.isArray(props.schema.examples) && props.schema.examples[0] != null ? String(props.schema.examples[0]) : undefined)
/** What holds in an emptied field: a number that is not written stands at its default, an empty text is one. */
const standsIn = (props: WidgetProps) => (['integer', 'number'].includes(String(props.schema.type)) && props.schema.default != null ? String(props.schema.default) : example(props))
const isNullable = (props: WidgetProps) => Boolean((props.schema as Record<string, unknown>)['x-nullable'])
const blankAsNull = (props: WidgetProps, value: string) => (value === '' && !props.required ? (isNullable(props) ? null : '') : value)

export function TextWidget(props: WidgetProps) {
  const mono = ['path', 'duration'].includes(String(props.schema['x-widget' as keyof typeof props.schema]))
  return (
    <TextInput
      id={props.id}
      value={props.value ?? ''}
      disabled={props.disabled}
      error={errorOf(props)}
      placeholder={standsIn(props)}
      classNames={mono ? { input: 'pw-mono' } : undefined}
      onChange={(event) => props.onChange(blankAsNull(props, event.currentTarget.value))}
      onBlur={() => props.onBlur(props.id, props.value)}
    />
  )
}

function CheckboxWidget(props: WidgetProps) {
  return <Switch id={props.id} checked={Boolean(props.value)} disabled={props.disabled} label={props.label} size="xs" onChange={(event) => props.onChange(event.currentTarget.checked)} />
}

const CHOICES_SIDE_BY_SIDE = 3
const CHARACTERS_SIDE_BY_SIDE = 36
/** A field within a row of a list has no room for them. */
const isInRow = ({ id, registry }: WidgetProps) => /_\d+_/.test(id.slice(registry.globalFormOptions.idPrefix.length))

function SelectWidget(props: WidgetProps) {
  const said = (props.schema as Record<string, unknown>)['x-choices'] as Record<string, string> | undefined
  const choices = (props.options.enumOptions ?? []).map((choice) => ({ value: String(choice.value), label: said?.[String(choice.value)] ?? String(choice.label).replaceAll('_', ' ') }))
  const room = isBrief(props.schema) ? CHARACTERS_SIDE_BY_SIDE / 2 : CHARACTERS_SIDE_BY_SIDE
  const narrow = choices.length <= CHOICES_SIDE_BY_SIDE && choices.map((choice) => choice.label).join('').length < room && props.registry.formContext && !isInRow(props)
  if (narrow && props.required !== undefined && props.value != null) {
    return <SegmentedControl id={props.id} data={choices} value={String(props.value)} fullWidth size="xs" disabled={props.disabled} onChange={props.onChange} aria-label={props.label} />
  }
  const usual = choices.find((choice) => choice.value === String(props.schema.default))?.label
  return <Select id={props.id} data={choices} value={props.value == null ? null : String(props.value)} placeholder={usual} error={errorOf(props)} disabled={props.disabled} allowDeselect={isNullable(props)} onChange={(value) => props.onChange(value)} />
}

const offered = (props: WidgetProps): string[] => [...new Set(offeredColumns(help(props), props.schema as Record<string, unknown>).map((column) => column.name))]

function ColumnWidget(props: WidgetProps) {
  return (
    <Autocomplete size="xs" id={props.id} value={props.value ?? ''} data={offered(props)} error={errorOf(props)} classNames={{ input: 'pw-mono' }} placeholder={example(props)} onChange={(value) => props.onChange(blankAsNull(props, value))} />
  )
}

/** What was written elsewhere may be one word, or no list. */
const wordsOf = ({ value }: WidgetProps): string[] =>
  Array.isArray(value) ? value.map(String) : value == null || value === '' ? [] : [String(value)]

/** Offers the columns that are known and takes any other name, too: the schema may be known later, or come from a job's parameters. */
function ColumnsWidget(props: WidgetProps) {
  const { t } = useTranslation('canvas')
  const chosen = wordsOf(props)
  const names = offered(props)
  return <TagsInput size="xs" id={props.id} data={names} value={chosen} disabled={props.disabled} error={errorOf(props)} classNames={{ pill: 'pw-mono' }} placeholder={chosen.length > 0 || names.length === 0 ? undefined : t('chooseColumns')} onChange={props.onChange} />
}

function WordsWidget(props: WidgetProps) {
  return <TagsInput size="xs" id={props.id} value={wordsOf(props)} error={errorOf(props)} classNames={{ pill: 'pw-mono' }} onChange={props.onChange} />
}

/** Not the name of any connection. */
const NEW = ' '
/** Those whose names fit what is typed, and one more that is to be made. */
const fittingOrNew: OptionsFilter = ({ options, search }) => (options as ComboboxItem[]).filter(({ value, label }) => value === NEW || label.toLowerCase().includes(search.trim().toLowerCase()))

function ConnectionWidget(props: WidgetProps) {
  const { t } = useTranslation('canvas')
  const kinds = ((props.schema as Record<string, unknown>)['x-connection-kinds'] ?? []) as string[]
  const { connections, connect } = help(props)
  const fitting = (connections ?? []).filter((connection) => kinds.length === 0 || kinds.includes(connection.kind))
  const names = [...new Set([...fitting.map((connection) => connection.name), ...(props.value ? [String(props.value)] : [])])]
  const make = () => connect(kinds, props.onChange)
  const hasNone = connections !== undefined && fitting.length === 0
  return (
    <>
      <Select
        id={props.id}
        data={[...names.map((name) => ({ value: name, label: name })), ...(connections ? [{ value: NEW, label: t('newConnection') }] : [])]}
        value={props.value || null}
        error={errorOf(props)}
        searchable
        clearable={!props.required}
        allowDeselect={false}
        placeholder={t(hasNone ? 'noConnection' : 'chooseConnection')}
        filter={fittingOrNew}
        onChange={(value) => (value === NEW ? make() : props.onChange(value ?? ''))}
      />
      {hasNone && (
        <button type="button" className="pw-link" onClick={make}>
          {t('newConnection')}
        </button>
      )}
    </>
  )
}

function TextareaWidget(props: WidgetProps) {
  return <Textarea id={props.id} value={props.value ?? ''} autosize minRows={3} maxRows={12} error={errorOf(props)} placeholder={example(props)} onChange={(event) => props.onChange(event.currentTarget.value)} />
}

function ExpressionWidget(props: WidgetProps) {
  const schema = props.schema as Record<string, unknown>
  const tall = ['sql', 'code'].includes(String(schema['x-widget']))
  const numbered = schema['x-widget'] === 'code'
  const language = String(schema['x-language'] ?? 'sql')
  const value = String(props.value ?? '')
  // What stands in for the field until it is loaded hands the focus on to it.
  const [goTo, setGoTo] = useState<{ at: number } | null>(null)
  const hands = { onFocus: () => setGoTo({ at: 0 }), onBlur: () => setGoTo(null) }
  const standIn = <Textarea value={value} readOnly classNames={{ input: 'pw-mono' }} {...hands} />
  return (
    <Suspense fallback={standIn}>
      <CodeField id={props.id} label={props.label} value={value} example={example(props)} columns={help(props).columns} tables={schema['x-widget'] === 'sql' && !isInRow(props) ? help(props).tables : []} invalid={errorOf(props)} tall={tall} numbered={numbered} language={language} readOnly={help(props).readOnly} goTo={goTo} onChange={props.onChange} />
    </Suspense>
  )
}

export const widgets: RegistryWidgetsType = {
  TextWidget,
  CheckboxWidget,
  SelectWidget,
  TextareaWidget,
  textarea: TextareaWidget,
  column: ColumnWidget,
  columns: ColumnsWidget,
  words: WordsWidget,
  connection: ConnectionWidget,
  expression: ExpressionWidget,
  sql: ExpressionWidget,
  code: ExpressionWidget,
  path: TextWidget,
  duration: TextWidget,
}
